import { eachCall, type Hit } from '../hit.ts'
import { findArgument, findKeyword, isTrue, isTrueValue } from '../source/keywords.ts'
import type { CallSite, SourceFile } from '../source/source-file.ts'
import { constantText, namesOf } from '../source/values.ts'
import { dottedNames } from '../../words.ts'

/** unsafe-load: formats that can run code while they are read. */
export const findUnsafeLoads = eachCall((site) =>
  isUnsafe(site) ? { rule: 'unsafe-load', detail: site.names[0] } : undefined,
)

const isUnsafe = (site: CallSite): boolean =>
  site.names.some((name) => {
    if (name === 'torch.load') return !isTrue(site, 'weights_only')
    if (name === 'numpy.load') return isTrue(site, 'allow_pickle')
    if (name === 'yaml.load' || name === 'yaml.load_all') return !hasSafeLoader(site)
    return ALWAYS_UNSAFE.has(name)
  })

const ALWAYS_UNSAFE = dottedNames({
  cloudpickle: 'load loads',
  dill: 'load loads',
  joblib: 'load',
  pandas: 'read_pickle',
  'pickle.Unpickler()': 'load',
  pickle: 'load loads',
  yaml: 'unsafe_load',
})

const hasSafeLoader = (site: CallSite): boolean => {
  const loader = findArgument(site, 1, 'Loader')
  return loader !== undefined && namesOf(loader, site.scope).some((name) => /Safe|Base/.test(name))
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

const isHub = (site: CallSite): boolean => {
  if (!site.names.includes('torch.hub.load')) return false
  const source = findKeyword(site, 'source')
  return source === undefined || constantText(source, site.scope) !== 'local'
}
