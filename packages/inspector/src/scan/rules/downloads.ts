import type { Expression } from '../../python/ast.ts'
import { findArgument } from '../source/keywords.ts'
import { originsOf } from '../source/origins.ts'
import { findBindings } from '../source/find-bindings.ts'
import type { Scope } from '../source/scope.ts'
import type { CallSite } from '../source/source-file.ts'
import { valueKey } from '../source/value-key.ts'
import { namesOf } from '../source/values.ts'

/** Keys of the paths to which a call writes what it, or an earlier one, has downloaded. */
export const downloadedTo = (site: CallSite): string[] =>
  [...destinations(site), ...written(site), ...copied(site), ...fetched(site)].flatMap(
    (node) => valueKey(node, site.scope) ?? [],
  )

const destinations = (site: CallSite): Expression[] => {
  const place = site.names.map((name) => DOWNLOADERS.get(name)).find(Boolean)
  const node = place && findArgument(site, 1, place)
  return node ? [node] : []
}

/** Functions that download to their second argument, with its name. */
const DOWNLOADERS = new Map([
  ['urllib.request.urlretrieve', 'filename'],
  ['urllib.urlretrieve', 'filename'],
  ['wget.download', 'out'],
  ['gdown.download', 'output'],
  ['torch.hub.download_url_to_file', 'dst'],
])

/** They give the path to which they have downloaded. */
export const isDownloadedPath = (name: string): boolean =>
  /^(?:urllib\.(?:request\.)?urlretrieve|wget\.download|gdown\.download)\(\)(?:\[\])*$/.test(name)

/** `open(p, 'wb').write(answer.content)`, `Path(p).write_bytes(…)`. */
const written = ({ call, scope }: CallSite): Expression[] => {
  const [content] = call.args
  if (call.func.kind !== 'Attribute' || !content || !/^write(_bytes|_text)?$/.test(call.func.attr))
    return []
  return originsOf(content, scope).has('network') ? [openedPath(call.func.value, scope)] : []
}

/** `shutil.copyfileobj(response, open(p, 'wb'))`. */
const copied = ({ call, scope, names }: CallSite): Expression[] => {
  const [from, to] = call.args
  return names.includes('shutil.copyfileobj') && from && to && originsOf(from, scope).has('network')
    ? [openedPath(to, scope)]
    : []
}

/** The path of a file that `open` opened; else the file itself, whose `name` is the path. */
const openedPath = (file: Expression, scope: Scope): Expression => {
  const direct = openArgument(file, scope)
  if (direct || file.kind !== 'Name') return direct ?? file
  const [binding] = findBindings(scope, file.id) ?? []
  return (binding?.kind === 'value' && openArgument(binding.value, binding.scope)) || file
}

const openArgument = (node: Expression, scope: Scope): Expression | undefined =>
  node.kind === 'Call' && namesOf(node.func, scope).includes('builtins.open')
    ? node.args[0]
    : undefined

/** `curl -o p …`, `wget -O p …`. */
const fetched = (site: CallSite): Expression[] =>
  site.commands.flatMap(({ words }) => {
    const isFetch = words[0]?.texts.some((text) => /(?:^|[/\\])(?:curl|wget)(?:\.exe)?$/.test(text))
    const option = words.findIndex(({ texts }) =>
      texts.some((text) => /^(-o|-O|--output)$/.test(text)),
    )
    const node = isFetch && option > 0 ? words[option + 1]?.node : undefined
    return node ? [node] : []
  })
