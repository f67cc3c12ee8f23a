import { makeNotifier, type Notifier } from '../../domain/notifier.ts'
import { errors } from '../../domain/errors.ts'

/** Watcher, for the limits: a network address, and an account. */
export interface Watcher {
  address: string
  account(): string
}

/** Waits for changes of one task or version. */
export interface Watch {
  /**
   * Resolves with `changed` when the row may have changed since the last call or since the watch was opened; with `quiet`
   * after so many milliseconds; with `over` once the client has gone or the process stops.
   */
  next(milliseconds: number): Promise<'changed' | 'quiet' | 'over'>
  /** Returns the newest preview, in Base64, unless a call before has. */
  takePreview(): string | undefined
  close(): void
}

/** Watches of one process. None holds a connection to PostgreSQL: the process listens for all, and polls for all. */
export interface Watches {
  /**
   * Watches a row, or with `ids` all rows that are in the set at the time, under an id of its own. Throws 429
   * `streams_exceeded` when there are enough, in all or of this address or account.
   */
  open(id: string, watcher: Watcher, signal: AbortSignal, ids?: ReadonlySet<string>): Watch
  /** This row may have changed; without an id any may have. */
  notify(id?: string): void
  /** Keeps a preview for those who watch this row alone, until a newer one comes. */
  preview(id: string, webp: string): void
  /** Notifies of rows that have changed since the poll before, and of rows that no poll has seen. */
  poll(
    readRevisions: (ids: readonly string[]) => Promise<ReadonlyMap<string, number>>,
  ): Promise<void>
  /** Ends all, and whatever is opened later. */
  close(): void
}

/** Share of all watches that one address may have, and one account. */
const SHARE = 0.1

export const makeWatches = ({ max }: { max: number }): Watches => {
  const watched = new Map<string, Watched>()
  const groups = new Set<Watched>()
  const open = new Map<string, number>()
  let all = 0
  let isClosed = false
  const maxOfOne = Math.max(1, Math.floor(max * SHARE))
  const count = (names: readonly string[], change: 1 | -1): void => {
    all += change
    for (const name of names) {
      const left = (open.get(name) ?? 0) + change
      if (left === 0) open.delete(name)
      else open.set(name, left)
    }
  }

  const notify = (id?: string): void => {
    if (id === undefined) for (const { notifier } of watched.values()) notifier.notify()
    else
      for (const row of [watched.get(id), ...groups])
        if (row && (row.ids?.has(id) ?? true)) row.notifier.notify()
  }

  return {
    open(id, { address, account }, signal, ids) {
      const names = [`address ${address}`, `account ${account()}`]
      if (all >= max || names.some((name) => (open.get(name) ?? 0) >= maxOfOne))
        throw errors.tooManyStreams(max, maxOfOne)
      count(names, 1)
      const row = watched.get(id) ?? { rev: undefined, notifier: makeNotifier(), watches: 0, ids }
      if (ids) groups.add(row)
      watched.set(id, row)
      row.watches += 1
      const { notifier } = row
      let taken = row.preview
      let received = notifier.notifications
      let isOpen = true
      const isOver = () => isClosed || signal.aborted
      return {
        async next(milliseconds) {
          if (!isOver()) await notifier.wait(milliseconds, signal, received)
          if (isOver()) return 'over'
          const isChanged = notifier.notifications !== received
          received = notifier.notifications
          return isChanged ? 'changed' : 'quiet'
        },
        takePreview() {
          const isNew = row.preview !== taken
          taken = row.preview
          return isNew ? taken : undefined
        },
        close() {
          if (!isOpen) return
          isOpen = false
          count(names, -1)
          row.watches -= 1
          if (row.watches === 0) watched.delete(id)
          groups.delete(row)
        },
      }
    },
    notify,
    preview(id, webp) {
      const row = watched.get(id)
      if (row) row.preview = webp
      row?.notifier.notify()
    },
    async poll(readRevisions) {
      if (watched.size === 0) return
      const revisions = await readRevisions([...watched.keys()])
      for (const [id, row] of watched) {
        const rev = revisions.get(id)
        if (row.rev !== rev) row.notifier.notify()
        row.rev = rev
      }
    },
    close() {
      isClosed = true
      notify()
    },
  }
}

interface Watched {
  /** As the last poll found it. */
  rev: number | undefined
  notifier: Notifier
  preview?: string
  watches: number
  ids: ReadonlySet<string> | undefined
}
