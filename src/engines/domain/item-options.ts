/** Options behind an item of a setting, such as `|depth=1|held`, each with the values that it may have; the empty one where it has none. */
type Rules<Name extends string> = Record<Name, RegExp>

/** Options of every engine: `errors=shown` shows callers what it says of an attempt that fails. */
export const ENGINE_OPTIONS = { errors: /^(shown|hidden)$/ } satisfies Rules<string>

/** Splits an item into its address and its options; undefined where one is unknown, given twice, or has another value. */
export const splitOptions = <Name extends string>(
  text: string,
  rules: Rules<Name>,
): { address: string; options: Partial<Record<Name, string>> } | undefined => {
  const [address = '', ...given] = text.split('|').map((part) => part.trim())
  const options: Partial<Record<string, string>> = {}
  for (const option of given) {
    const [, name = '', value = ''] = /^(\w+)(?:=(.*))?$/s.exec(option) ?? []
    if (!Object.hasOwn(rules, name) || options[name] !== undefined) return undefined
    if (!rules[name as Name].test(value)) return undefined
    options[name] = value
  }
  return { address, options }
}
