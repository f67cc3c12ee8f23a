import type { Data } from '../api/schema.ts'

export type Resolution = Data<'/workflows/resolve', 'post'>
export type Check = Data<'/workflows/check', 'post'>
export type Change = Check['changes'][number]

/** Versions by the id of the pack, where others are wanted than those that the service takes. */
export type Versions = Readonly<Record<string, string>>
export interface Chosen {
  from: Versions
  to: Versions
}
