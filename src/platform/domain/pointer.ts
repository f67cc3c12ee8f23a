/** The value that a JSON Pointer names; undefined when there is none. (typebox's finds no member called `constructor`.) */
export const valueAt = (value: unknown, pointer: string): unknown =>
  fromPointer(pointer).reduce<unknown>(
    (at, name) =>
      typeof at === 'object' && at !== null && Object.hasOwn(at, name)
        ? (at as Record<string, unknown>)[name]
        : undefined,
    value,
  )

/** The names and indexes of a JSON Pointer. */
export const fromPointer = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))

/** The JSON Pointer of names and indexes. Without any it is empty and names the whole value. */
export const toPointer = (path: readonly string[]): string =>
  path.map((step) => `/${step.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
