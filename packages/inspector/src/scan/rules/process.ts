import { eachCall, type Found, type Hit } from '../hit.ts'
import { isBad } from '../requirements/known-bad.ts'
import { readRequirement } from '../requirements/requirement.ts'
import type { CallSite, Command, SourceFile } from '../source/source-file.ts'
import { isList } from '../source/parts.ts'
import { HOLE } from '../source/text.ts'
import { textsOf } from '../source/values.ts'
import { isFetch } from '../source/origin-names.ts'
import { dottedNames } from '../../words.ts'

/** runtime-install, bad-requirement in such a command, shell, process. */
export const findProcesses = (file: SourceFile): Hit[] =>
  file.calls.flatMap((site) =>
    findHits(site).map((hit) => ({ ...hit, path: file.path, line: site.call.line })),
  )

const findHits = (site: CallSite): Found[] => {
  const { commands } = site
  const bad = badRequirements(commands)
  if (isInstaller(site) || commands.some(isInstall)) return [{ rule: 'runtime-install' }, ...bad]
  if (commands.length === 0) return []
  return [{ rule: commands.some(({ shell }) => shell) ? 'shell' : 'process' }, ...bad]
}

const isInstaller = ({ call, scope, names }: CallSite): boolean =>
  names.includes('ensurepip.bootstrap') ||
  (names.some((name) => PIP_MAIN.test(name)) &&
    call.args.some((part) => textOfItems(part, scope).includes('install')))

const PIP_MAIN = /^pip(?:\._internal)?(?:\.cli\.main)?\.main$/

const textOfItems = (node: CallSite['call']['args'][number], scope: CallSite['scope']): string[] =>
  (isList(node) ? node.items : [node]).flatMap((item) => textsOf(item, scope))

const isInstall = ({ line }: Command): boolean => INSTALL.test(line)

/** pip with an argument that is not known counts: nobody passes `list` in a variable. */
const INSTALL = new RegExp(
  String.raw`(?:^|[\s/\\"'&;|${HOLE}])(?:pip[\d.]*|uv\s+pip|conda|mamba)(?:\.exe)?["']?\s+(?:-\S+\s+)*(?:install\b|${HOLE})`,
)

const badRequirements = (commands: readonly Command[]): Found[] => {
  const words = commands
    .filter(isInstall)
    .flatMap(({ words }) => words.flatMap(({ texts }) => texts))
  const found = words.flatMap((word) => {
    const requirement = word.includes(HOLE) ? undefined : readRequirement(word)
    const detail = requirement && isBad(requirement)
    return detail === undefined ? [] : [detail]
  })
  return [...new Set(found)].map((detail) => ({ rule: 'bad-requirement', detail }))
}

/** network, native-call: ordinary in packs, only counted. */
export const findCounted = eachCall(({ names }) => {
  if (names.some(isNetwork)) return { rule: 'network' }
  return names.some(isNative) ? { rule: 'native-call' } : undefined
})

const isNetwork = (name: string): boolean => isFetch(name) || DOWNLOADS.has(name)

const DOWNLOADS = dottedNames({
  gdown: 'download',
  huggingface_hub: 'hf_hub_download snapshot_download',
  requests: 'delete head patch',
  socket: 'create_connection socket',
  'torch.hub': 'download_url_to_file load_state_dict_from_url',
  'urllib.request': 'Request urlretrieve',
  websocket: 'create_connection',
  wget: 'download',
})

const isNative = (name: string): boolean =>
  /^(?:ctypes\.(?:C|Py|Win|Ole)DLL|ctypes\.(?:cdll|windll|oledll|pydll)\b.*|cffi\.FFI\(\)\.dlopen)$/.test(
    name,
  )
