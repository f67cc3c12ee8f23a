import type { Hit } from '../hit.ts'
import { isTrue, isTrueValue } from '../source/keywords.ts'
import type { CallSite } from '../source/call-site.ts'
import type { SourceFile } from '../source/source-file.ts'
import { constantText, namesOf } from '../source/values.ts'

/** unsafe-load: formats that can run code while they are read. */
export const findUnsafeLoads = (file: SourceFile): Hit[] =>
  file.calls.filter(isUnsafe).map(({ call, names }) => ({
    rule: 'unsafe-load',
    path: file.path,
    line: call.line,
    detail: names[0],
  }))

const isUnsafe = (site: CallSite): boolean =>
  site.names.some((name) => {
    if (name === 'torch.load') return !isTrue(site, 'weights_only')
    if (name === 'numpy.load') return isTrue(site, 'allow_pickle')
    if (name === 'yaml.load' || name === 'yaml.load_all') return !hasSafeLoader(site)
    return ALWAYS_UNSAFE.has(name)
  })

const ALWAYS_UNSAFE = new Set([
  'cloudpickle.load',
  'cloudpickle.loads',
  'dill.load',
  'dill.loads',
  'joblib.load',
  'pandas.read_pickle',
  'pickle.Unpickler().load',
  'pickle.load',
  'pickle.loads',
  'yaml.unsafe_load',
])

const hasSafeLoader = ({ call, scope }: CallSite): boolean => {
  const loader = call.args[1] ?? call.keywords.find(({ name }) => name === 'Loader')?.value
  return loader !== undefined && namesOf(loader, scope).some((name) => /Safe|Base/.test(name))
}

/** remote-code: `trust_remote_code=True`, also in a dict of options, and hub repositories. */
export const findRemoteCode = (file: SourceFile): Hit[] => {
  const calls = file.calls.filter((site) => isTrue(site, 'trust_remote_code') || isHub(site))
  const dicts = file.dicts.filter(({ node, scope }) =>
    node.items.some(
      ({ key, value }) =>
        key?.kind === 'Constant' && key.value === 'trust_remote_code' && isTrueValue(value, scope),
    ),
  )
  const lines = [...calls.map(({ call }) => call.line), ...dicts.map(({ node }) => node.line)]
  return lines.map((line) => ({ rule: 'remote-code', path: file.path, line }))
}

const isHub = ({ call, scope, names }: CallSite): boolean => {
  const source = call.keywords.find(({ name }) => name === 'source')?.value
  return names.includes('torch.hub.load') && !(source && constantText(source, scope) === 'local')
}
