export { Membership } from './membership.ts'
export type { MembershipOptions } from './membership.ts'
