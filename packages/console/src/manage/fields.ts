import { filledWith, type FieldSpec } from '../ui/ask-field.tsx'
import type { PictureSpec } from '../ui/picture-field.tsx'
import { t } from '../words/translate.ts'

const text = (name: string, label: string, help?: FieldSpec['help']): FieldSpec => ({
  name,
  label,
  help,
  isOptional: true,
})

/** Systems as people name them, by what packs say of each. */
const SYSTEMS: Known = [
  ['Linux', /linux/i],
  ['Windows', /windows/i],
  ['macOS', /mac/i],
  ['OS Independent', /independent|^any/i, t('Any OS')],
]
const ACCELERATORS: Known = [
  ['CUDA', /cuda/i],
  ['ROCm', /rocm/i],
  ['MPS', /mps|metal/i],
  ['CPU', /cpu/i],
]
type Known = readonly (readonly [value: string, said: RegExp, label?: string])[]

/** The known words, each as the record spells it, and whatever else the record has. */
const optionsOf = (known: Known, has: readonly string[]) => {
  const others = has.filter((word) => !known.some(([, said]) => said.test(word)))
  const named = known.flatMap(([value, said, label = value]) => {
    const [spelt = value, ...more] = has.filter((word) => said.test(word))
    return [[spelt, label] as const, ...more]
  })
  return { '': [...named, ...others] }
}

type Supporting = { supported_os: readonly string[]; supported_accelerators: readonly string[] }

/** Systems that a node or a version says it runs on. */
const supportFields = (of: Supporting): FieldSpec[] => [
  {
    name: 'supported_os',
    label: t('Operating system'),
    isOptional: true,
    many: optionsOf(SYSTEMS, of.supported_os),
  },
  {
    name: 'supported_accelerators',
    label: t('Accelerators'),
    isOptional: true,
    many: optionsOf(ACCELERATORS, of.supported_accelerators),
  },
  text('supported_host_version', t('ComfyUI version'), t('For example >=0.3.60.')),
  text('supported_host_frontend_version', t('ComfyUI frontend version')),
]

type Pictures = Record<'icon' | 'banner', PictureSpec>

/** Fields of a node that members of its publisher write. */
export const nodeFields = (node: Supporting, { icon, banner }: Pictures): FieldSpec[] =>
  filledWith(node, [
    { name: 'name', label: t('Name') },
    { ...text('description', t('Description')), rows: 3 },
    { ...text('icon', t('Icon')), picture: icon },
    { ...text('banner_url', t('Banner')), picture: banner },
    { ...text('tags', t('Tags')), chips: true },
    ...supportFields(node),
    text('repository', t('Repository')),
    text('license', t('License'), t('An SPDX identifier such as MIT, or {"file": "LICENSE"}.')),
    text('author', t('Author')),
  ])

const TAGS_ADMIN = {
  ...text(
    'tags_admin',
    t('Admin tags'),
    t('Everyone can read them; only platform admins can set them.'),
  ),
  chips: true,
}

/** Fields of a node that platform admins set. */
export const nodeAdminFields = (node: object): FieldSpec[] =>
  filledWith(node, [
    TAGS_ADMIN,
    {
      ...text('search_ranking', t('Search ranking'), t('Lower comes first; 5 unless set.')),
      isNumber: true,
    },
    { ...text('github_stars', t('GitHub stars')), isNumber: true },
    {
      ...text(
        'preempted_host_node_names',
        t('Reserved node names'),
        t('They always lead to this pack.'),
      ),
      chips: true,
    },
  ])

/** Fields of a version that platform admins set. */
export const versionAdminFields = (version: Supporting): FieldSpec[] =>
  filledWith(version, [TAGS_ADMIN, ...supportFields(version)])
