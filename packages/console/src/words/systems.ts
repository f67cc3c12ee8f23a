import { t } from './translate.ts'
/** Names of systems and accelerators by what packs write, in lower case and without the groups of classifiers before it. */
const NAMES: Record<string, string> = {
  any: t('Any'),
  independent: t('Any OS'),
  'os independent': t('Any OS'),
  windows: 'Windows',
  linux: 'Linux',
  macos: 'macOS',
  'macos x': 'macOS',
  darwin: 'macOS',
  cuda: 'CUDA',
  'nvidia cuda': 'CUDA',
  nvidia: 'CUDA',
  rocm: 'ROCm',
  'amd rocm': 'ROCm',
  mps: 'MPS',
  'apple metal': 'MPS',
  xpu: 'XPU',
  'intel xpu': 'XPU',
  directml: 'DirectML',
  cpu: 'CPU',
}

/** Names a system as people do: `Microsoft :: Windows` is Windows. What nobody knows keeps its text. */
export const nameSystem = (text: string): string => {
  const last = text.split('::').at(-1)?.trim() ?? text
  return NAMES[last.toLowerCase()] ?? last
}
