import type { Pack } from '../pack.ts'
import { readScript, type Script } from './script.ts'
import { NAME_MAX, makeTextReader } from './texts.ts'
import { isMark } from './tokens.ts'

/** Bytes of one script that is read, and of all of a pack. */
const [SCRIPT_MAX, SCRIPTS_MAX] = [2 ** 21, 2 ** 23]
/** Host nodes of the editor alone; the most that a known pack has are some 20. */
const NODES_MAX = 500

const REGISTER = 'registerNodeType'

/**
 * Lists the host nodes that the scripts of a pack register in the editor alone: no server has them. Read are the texts that stand
 * in a call of `registerNodeType`, or under the names there, and of classes that register themselves (`this.type`) those of
 * which some script calls that method. Scripts are those below the folder that the host serves, or all.
 */
export const listEditorNodes = (pack: Pack, folder: string | undefined): string[] => {
  const sources = readSources(pack, folder)
  if (!sources.some((source) => source.includes(REGISTER))) return []
  const scripts = sources.map(readScript)
  const { read, resolve } = makeTextReader(scripts)
  const found = new Set<string>()
  const add = (name: string | undefined): void => {
    const isName = name !== undefined && name.trim() !== '' && name.length <= NAME_MAX
    if (isName && found.size < NODES_MAX) found.add(name)
  }
  /** Members of the classes that a method registers, or of a script, each looked for once. */
  const looked = new Set<string>()
  const isNew = (key: string): boolean => !looked.has(key) && looked.add(key).size <= LOOKED_MAX
  for (const [index, script] of scripts.entries())
    for (const at of listCalls(script)) {
      const name = read(script, at + 2)
      const [owner, member = ''] = argumentOf(script, at)
      const method = owner === 'this' ? methodAround(script, at) : undefined
      if (name !== undefined || member === '') add(name)
      else if (method !== undefined && isNew(`${method}.${member}`))
        for (const one of listCallers(scripts, method))
          add(resolve(one.script, `${one.name}.${member}`))
      else if (owner !== 'this' && isNew(`${index}:${member}`) && isVirtual(script))
        for (const path of script.values.keys())
          if (path.endsWith(`.${member}`)) add(resolve(script, path))
    }
  return [...found].toSorted()
}

/** Methods and members that are looked for in all scripts. */
const LOOKED_MAX = 100

const readSources = ({ files }: Pack, folder: string | undefined): string[] => {
  const sources: string[] = []
  const prefix = folder ? `${folder}/` : ''
  let left = SCRIPTS_MAX
  for (const path of [...files.keys()].toSorted()) {
    const content = files.get(path)
    const isScript = /\.m?js$/i.test(path) && !/(^|\/)node_modules\//.test(path)
    if (!content || !isScript || !path.startsWith(prefix)) continue
    if (content.length > Math.min(SCRIPT_MAX, left)) continue
    left -= content.length
    sources.push(new TextDecoder().decode(content))
  }
  return sources
}

/** Places of the calls that register a host node, the definitions of such functions aside. */
const listCalls = (script: Script): number[] =>
  [...script.tokens.keys()].filter((at) => {
    const { kind, text } = script.tokens[at] ?? {}
    const isCall = kind === 'name' && text === REGISTER && isMark(script.tokens, at + 1, '(')
    return isCall && !/^(static|function|async)$/.test(script.tokens[at - 1]?.text ?? '')
  })

/** The first two names of the first argument: `this.type`. */
const argumentOf = (script: Script, at: number): string[] => {
  const [owner, , member, behind] = script.tokens.slice(at + 2, at + 6)
  if (owner?.kind !== 'name' || member?.kind !== 'name' || behind?.text !== ',') return []
  return isMark(script.tokens, at + 3, '.') ? [owner.text, member.text] : []
}

/** Tokens of a method that registers its class. */
const METHOD_MAX = 200

/** Name of the static method that a place is in. */
const methodAround = ({ tokens }: Script, at: number): string | undefined => {
  for (let before = at; before > Math.max(0, at - METHOD_MAX); before -= 1)
    if (tokens[before]?.text === 'static') return tokens[before + 1]?.text
  return undefined
}

/** Names of which a method is called without arguments, with their scripts. */
const listCallers = (scripts: readonly Script[], method: string | undefined) =>
  scripts.flatMap((script) =>
    [...script.tokens.entries()].flatMap(([at, { kind, text }]) => {
      const owner = script.tokens[at - 2]
      const isOne = kind === 'name' && text === method && owner?.kind === 'name'
      const calls =
        isOne && isMark(script.tokens, at - 1, '.') && isMark(script.tokens, at + 1, '(')
      return calls && isMark(script.tokens, at + 2, ')') ? [{ script, name: owner.text }] : []
    }),
  )

const isVirtual = ({ tokens }: Script): boolean =>
  tokens.some(({ kind, text }) => kind === 'name' && text === 'isVirtualNode')
