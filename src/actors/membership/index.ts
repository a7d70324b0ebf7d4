export { Membership } from './membership.ts'
