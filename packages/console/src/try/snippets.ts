import type { Kind } from './kinds.ts'
import type { Body } from './schema.ts'

type Request = { origin: string; kind: Kind; body: Body }

/** Settings that made the relit portrait of the first page; a test renders it again. */
export const EXAMPLE = {
  prompt: '(warm evening light:1.3) from the left',
  style: 'contrasted_n_hdr',
}

/** One argument of a shell. */
const quote = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`

export const toCurl = ({ origin, kind, body }: Request): string =>
  String.raw`curl ${quote(origin + kind.path)} \
  -H "X-API-KEY: $KILN_API_KEY" \
  -H 'Content-Type: application/json' \
  -d ${quote(JSON.stringify(body, null, 2))}`

/** JSON with names as one writes them in TypeScript; line ends within texts are escaped, so a line begins with a name. */
const toLiteral = (body: Body): string =>
  JSON.stringify(body, null, 2).replaceAll(/^( *)"([A-Za-z_]\w*)":/gm, '$1$2:')

export const toTypeScript = ({ origin, kind, body }: Request): string =>
  `import { makeKiln } from 'kiln-client'

const kiln = makeKiln({ baseUrl: '${origin}', apiKey: process.env.KILN_API_KEY })
const task = await kiln.${kind.call}(${kind.argument ?? ''}${toLiteral(body)})
const ended = await kiln.wait(task)
console.log(ended)
`

/** A value as Python writes it. */
const toPython = (value: unknown, indent = ''): string => {
  if (value === null) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (typeof value !== 'object') return JSON.stringify(value)
  const inner = `${indent}    `
  const isList = Array.isArray(value)
  const items = isList
    ? value.map((item) => toPython(item, inner))
    : Object.entries(value).map(
        ([name, item]) => `${JSON.stringify(name)}: ${toPython(item, inner)}`,
      )
  const [open, close] = isList ? '[]' : '{}'
  if (items.length === 0) return `${open}${close}`
  return `${open}\n${items.map((item) => `${inner}${item},\n`).join('')}${indent}${close}`
}

export const toPythonCode = ({ origin, kind, body }: Request): string =>
  `import os
import requests

response = requests.post(
    ${JSON.stringify(origin + kind.path)},
    headers={"X-API-KEY": os.environ["KILN_API_KEY"]},
    json=${toPython(body, '    ')},
)
response.raise_for_status()
print(response.json())
`
