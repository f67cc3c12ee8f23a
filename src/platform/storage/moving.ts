import { StorageError, type Storage } from './storage.ts'

/**
 * One store while its files move to another: what is written goes to `to`, and what is read, listed or removed may be in
 * either. It has links of what has moved.
 *
 * A mover puts a file there before it removes it here. So who finds it in neither looks once more where it goes. A removal
 * begins where files come from: a mover that has put a file there, and finds it here no more, takes it back.
 */
export const makeMovingStorage = ({ to, from }: { to: Storage; from: Storage }): Storage => {
  const read = <T>(readFrom: (store: Storage) => Promise<T>): Promise<T> =>
    readFrom(to)
      .catch(unlessMissing(() => readFrom(from)))
      .catch(unlessMissing(() => readFrom(to)))
  const { link } = to
  return {
    ...to,
    ...(link && {
      link: async (key, response) => ((await to.stat(key)) ? await link(key, response) : undefined),
    }),
    open: (key, range) => read((store) => store.open(key, range)),
    fetchToFile: (key, path) => read((store) => store.fetchToFile(key, path)),
    stat: async (key) => (await to.stat(key)) ?? (await from.stat(key)) ?? (await to.stat(key)),
    remove: async (key) => {
      await from.remove(key)
      await to.remove(key)
    },
    removePrefix: async (prefix) => {
      await from.removePrefix(prefix)
      await to.removePrefix(prefix)
    },
    list: async (prefix) =>
      [...new Set([...(await from.list(prefix)), ...(await to.list(prefix))])].toSorted(),
    check: async () => {
      await to.check()
      await from.check()
    },
    async *listFolders(prefix) {
      // They may be millions, so one that is in both is listed twice.
      yield* from.listFolders(prefix)
      yield* to.listFolders(prefix)
    },
  }
}

const unlessMissing =
  <T>(readFrom: () => Promise<T>) =>
  (error: unknown): Promise<T> => {
    if (!(error instanceof StorageError && error.code === 'not_found')) throw error
    return readFrom()
  }
