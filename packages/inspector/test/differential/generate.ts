import { readFileSync } from 'node:fs'
import { words } from '../../src/words.ts'

const read = (name: string): string => readFileSync(new URL(name, import.meta.url), 'utf8')

/** Code that programs may use; each part uses those before it. */
const PRELUDE = read('prelude.py').trim().split('\n\n\n')

/** Productions by name; see the head of the file. */
const GRAMMAR = new Map(
  read('grammar.txt')
    .split(/^## /m)
    .slice(1)
    .map((section) => {
      const [name = '', ...lines] = section.trim().split('\n')
      const isBlock = /statement|member_of_class/.test(name)
      return [name, isBlock ? lines.join('\n').split('\n\n') : lines] as const
    }),
)

/** Types of the letters of names. */
const TYPES: Record<string, string> = Object.fromEntries(
  words(
    'i:int j:int x:float b:bool s:str t:str l:ints w:strs d:counts p:pairs u:set o:obj n:json q:any m:match e:error ' +
      'C:cls M:mixin K:row N:tupled E:enum P:path h:fn v:variadic y:generator k:decorator',
  ).map((pair) => pair.split(':')),
)

/** Letters of values that are shown at the end. */
const SHOWN = new Set(words('i j x b s t l w d p u o n q'))

interface Variable {
  name: string
  type: string
}

interface Place {
  scope: Variable[]
  /** Names that a statement may bind again. */
  assignable: Variable[]
  depth: number
  /** In an f-string, which can't hold backslashes and itself. */
  formatted: boolean
  /** True where `:=` is allowed. */
  walrus: boolean
}

const SELF: Variable[] = [
  { name: 'self.n', type: 'int' },
  { name: 'self.s', type: 'str' },
  { name: 'self.ITEMS', type: 'ints' },
]

/** Most expressions of a program. */
const PARTS = 250

/** One program of so many has what the interpreter does not compute. */
const UNKNOWN_EVERY = 10

/** Makes a program from a source of numbers below the one given; 0 takes the simplest way. */
export const generateProgram = (pick: (count: number) => number): string => {
  let counter = 0
  let parts = 0
  const withUnknown = pick(UNKNOWN_EVERY) === UNKNOWN_EVERY - 1

  const productionsOf = (type: string): string[] => [
    ...(GRAMMAR.get(type) ?? []),
    ...((withUnknown && GRAMMAR.get(`unknown ${type}`)) || []),
  ]

  /** Expands a production; `bound` gets the names made on its way. */
  const expand = (production: string, place: Place, bound: Map<string, string>): string => {
    const inner: Place = {
      ...place,
      depth: place.depth - 1,
      formatted: place.formatted || production.includes('f"""'),
      walrus: place.walrus && !/ for |^class/.test(production),
    }
    return production.replaceAll(
      /( *)(?:(?<!P)<(=?)(\w+)((?:\+\w+)*)>|\$([A-Za-z])(?!\w))/g,
      (_, space: string, again: string, symbol: string, added: string, letter: string) => {
        if (letter) return space + nameOf(letter, bound)
        const extra = added.split('+').slice(1)
        const names = extra.flatMap((key) => {
          if (key === 'self') return SELF
          const name = production.includes(`$${key}`) ? nameOf(key, bound) : key
          return [{ name, type: TYPES[key] ?? '' }]
        })
        if (again) return space + assignableName(symbol, place)
        const at = { ...inner, scope: [...inner.scope, ...names] }
        if (symbol === 'block' || symbol === 'members') {
          const isBody = /^(?:def|class|@)/.test(production)
          const assignable = isBody ? names : [...inner.assignable, ...names]
          const text = symbol === 'block' ? block({ ...at, assignable }) : members(at)
          return text.replaceAll(/^/gm, space)
        }
        return space + expression(symbol, at, names)
      },
    )
  }

  const nameOf = (letter: string, bound: Map<string, string>): string => {
    const name = bound.get(letter) ?? `${letter}${(counter += 1)}`
    bound.set(letter, name)
    return name
  }

  const assignableName = (type: string, { assignable }: Place): string => {
    const names = assignable.filter((variable) => variable.type === type)
    const found = names[pick(names.length || 1)]
    if (!found) throw new NoName()
    return found.name
  }

  const expression = (type: string, place: Place, preferred: Variable[]): string => {
    parts += 1
    const fits = (variable: Variable) => variable.type === type
    const near = preferred.filter(fits)
    if (near.length > 0 && pick(5) > 1) return near[pick(near.length)]?.name ?? ''
    const variables = place.scope.filter(fits)
    if (variables.length > 0 && pick(10) > (place.depth > 0 ? 6 : 2))
      return variables.at(-1 - pick(variables.length))?.name ?? ''
    const all = productionsOf(type).filter(
      (text) =>
        (!place.formatted || !/\\|f"""/.test(text)) && (place.walrus || !text.includes(':=')),
    )
    const leaves = all.filter((text) => !text.includes('<'))
    const isShort = (place.depth <= 0 || parts > PARTS) && leaves.length > 0
    const choices = isShort ? leaves : all
    const production = choices[pick(choices.length)]
    if (production === undefined) throw new Error(`No production of ${type}`)
    return expand(production, place, new Map())
  }

  const block = (place: Place): string => {
    const scope = [...place.scope]
    const assignable = [...place.assignable]
    const count = 1 + pick(3)
    return Array.from({ length: count }, () =>
      statement({ ...place, scope, assignable, depth: Math.min(place.depth, 3) }),
    ).join('\n')
  }

  /** A statement, whose names enter the place. */
  const statement = (place: Place): string => {
    const all = productionsOf('statement')
    const choices = place.depth > 1 ? all : all.filter((text) => !text.includes('\n'))
    const production = choices[pick(choices.length)] ?? ''
    const bound = new Map<string, string>()
    let text: string
    try {
      text = expand(production, { ...place, walrus: true }, bound)
    } catch (error) {
      if (!(error instanceof NoName)) throw error
      return 'pass'
    }
    for (const line of production.split('\n')) {
      if (!/^(?:\*?\$|def |class )/.test(line)) continue
      for (const [, letter = ''] of line.matchAll(/(?<!\w)\$([A-Za-z])(?!\w)/g)) {
        const name = bound.get(letter)
        if (name === undefined || place.scope.some((known) => known.name === name)) continue
        const variable = { name, type: TYPES[letter] ?? '' }
        place.scope.push(variable)
        if (SHOWN.has(letter)) place.assignable.push(variable)
      }
    }
    return text
  }

  const members = (place: Place): string => {
    const all = productionsOf('member_of_class')
    return Array.from({ length: 1 + pick(4) }, () =>
      expand(all[pick(all.length)] ?? '', { ...place, walrus: false, depth: 3 }, new Map()),
    ).join('\n')
  }

  const lines: string[] = []
  const place: Place = { scope: [], assignable: [], depth: 5, formatted: false, walrus: true }
  let results = 0
  for (let count = 2 + pick(4); count > 0; count -= 1) {
    lines.push(statement(place))
    for (let shown = pick(3); shown > 0; shown -= 1)
      lines.push(`keep('r${(results += 1)}', ${expression('shown', { ...place, depth: 4 }, [])})`)
  }
  for (const { name } of place.assignable) lines.push(`keep('${name}', ${name})`)
  const body = lines.join('\n')
  const text = PRELUDE.reduceRight(
    (later, part) => (isNeeded(part, later) ? `${part}\n\n\n${later}` : later),
    body,
  )
  const used = MODULES.filter((name) => text.includes(`${name}.`))
  return `import sys${used.map((name) => `, ${name}`).join('')}\n${text}\n`
}

/** True for a part of the prelude whose name is used. */
const isNeeded = (part: string, text: string): boolean => {
  const [, name = ''] = /^(?:@.*\n)?(?:class |def )?(\w+)/.exec(part) ?? []
  return new RegExp(`\\b${name}\\b`).test(text)
}

class NoName extends Error {}

const MODULES = words(
  'abc base64 collections contextlib copy dataclasses enum fnmatch functools glob hashlib inspect itertools json ' +
    'math operator os pathlib re string textwrap types typing',
)
