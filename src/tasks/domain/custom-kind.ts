/** A kind that a template of the operator's makes: `custom/` and the name of the template. */
export type CustomKind = `custom/${string}`

/** Begins the name of such a kind, and is the folder of its template. */
export const CUSTOM = 'custom/'

/** Form of the name of a template: it stands in paths. */
export const CUSTOM_NAME = '[a-z0-9][a-z0-9_-]{0,62}'

export const MAX_CUSTOM = 50

/** Segment of the tasks of all such kinds. */
export const CUSTOM_SEGMENT = 'templates'

/** Finds the template of a kind; undefined for a kind of the service's own. */
export const customName = (kind: string): string | undefined =>
  kind.startsWith(CUSTOM) ? kind.slice(CUSTOM.length) : undefined

/** Path on which tasks of a template are made, and below which they are read. */
export const customPath = (name: string): string => `/templates/${name}/tasks`
