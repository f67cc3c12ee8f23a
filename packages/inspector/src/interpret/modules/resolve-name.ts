/** `importlib.import_module(".a.b", package)`: the absolute name. Undefined above the top. */
export function resolveName(name: string, packageName: string, level: number): string | undefined {
  const segments = packageName === '' ? [] : packageName.split('.')
  if (level > segments.length) return undefined
  const base = segments.slice(0, segments.length - level + 1)
  return [...base, ...(name === '' ? [] : [name])].join('.')
}
