/** Plays one workload under several configurations in virtual time and sets the outcomes side by side. */
export type { PolicyFigures } from './figures.ts'
export { headOf, markdownTable, replaceBetweenMarks, rowsOf } from './markdown.ts'
export { plotOf } from './plot.ts'
export { runPolicy } from './policy-run.ts'
export { shippedPolicies } from './policies.ts'
export type { NamedFile } from './policies.ts'
export { workloadOf } from './workload.ts'
export type { Workload } from './workload.ts'
