import type { Silence } from './silence.ts'

/** A machine that tasks are placed on, as this process sees it, whatever it speaks. */
export interface Host {
  name: string
  url: string
  /** Most tasks of ours there at once; 0: no setting names it any more, and it is given none. */
  depth: number
  /** Callers may read what it says of an attempt that fails. */
  showsErrors?: boolean
  /** Asks it what it does, unless that was done since then, and waits a moment for the response. */
  probe(since: number): Promise<void>
  /** `up` when its last response was one; `down` after a silence that is too long. */
  state(): 'up' | 'doubtful' | 'down'
  /** Takes it for `doubtful` until it responds: a request has had no response, for this reason. */
  doubt(reason: string): void
  /** Undefined where its last response was one. */
  silence(): Silence | undefined
  /** Counts what it has to do besides these. */
  countOthers(ids: readonly string[]): number
  /** True where it takes no more now, however few tasks of ours it has. */
  isFull(): boolean
  /** Milliseconds for which the same task has run without an event. */
  stalledMs(): number
  /** As it was when it was last read. */
  facts(): { version: string; vram: number; maxUpload: number }
  /** Does not run a template until it is read again. */
  forget(template: string, issue: string): void
  /** Has it unload its models. */
  freeMemory(): Promise<unknown>
  /** Ends the work of a placement. Others are not touched. */
  cancel(id: string): Promise<unknown>
  close(): void
}
