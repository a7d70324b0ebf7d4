import { existsSync } from 'node:fs'

/** The folder of package.json: two up in a clone's src, three from what was built into dist. */
export const PACKAGE_ROOT: URL = ['../../', '../../../'].map((up) => new URL(up, import.meta.url)).find((folder) => existsSync(new URL('package.json', folder))) ?? new URL('../../', import.meta.url)
