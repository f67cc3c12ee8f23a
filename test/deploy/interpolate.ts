/** `${NAME:-default}`, `${NAME:+-$NAME}` and `${NAME:?message}` as Docker Compose fills them in; an empty value counts as absent. */
const VARIABLE = /\$\{(\w+):([-+?])([^}]*)\}/g

/** Fills in the variables of a text. Throws for one that is required and absent. */
export const interpolate = (text: string, values: Record<string, string>): string =>
  text.replaceAll(VARIABLE, (_whole, name: string, kind: string, rest: string) => {
    const value = values[name]
    if (kind === '+') return value ? rest.replace(`$${name}`, value) : ''
    if (value) return value
    if (kind === '?') throw new Error(`${name}: ${rest}`)
    return rest
  })

/** The variables that a text cannot do without. */
export const listRequired = (text: string): string[] => [
  ...new Set([...text.matchAll(VARIABLE)].filter(([, , kind]) => kind === '?').map(nameOf)),
]

const nameOf = ([, name = '']: RegExpExecArray): string => name
