import { filledWith, type FieldSpec } from '../ui/ask-field.tsx'
import type { PictureSpec } from '../ui/picture-field.tsx'

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
  ['OS Independent', /independent|^any/i, 'Any OS'],
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
    label: 'Operating system',
    isOptional: true,
    many: optionsOf(SYSTEMS, of.supported_os),
  },
  {
    name: 'supported_accelerators',
    label: 'Accelerators',
    isOptional: true,
    many: optionsOf(ACCELERATORS, of.supported_accelerators),
  },
  text('supported_host_version', 'Host version', 'For example >=0.3.60.'),
  text('supported_host_frontend_version', 'Host frontend version'),
]

type Pictures = Record<'icon' | 'banner', PictureSpec>

/** Fields of a node that members of its publisher write. */
export const nodeFields = (node: Supporting, { icon, banner }: Pictures): FieldSpec[] =>
  filledWith(node, [
    { name: 'name', label: 'Name' },
    { ...text('description', 'Description'), rows: 3 },
    { ...text('icon', 'Icon'), picture: icon },
    { ...text('banner_url', 'Banner'), picture: banner },
    { ...text('tags', 'Tags'), chips: true },
    ...supportFields(node),
    text('repository', 'Repository'),
    text('license', 'License', 'An SPDX identifier such as MIT, or {"file": "LICENSE"}.'),
    text('author', 'Author'),
  ])

const TAGS_ADMIN = {
  ...text('tags_admin', 'Admin tags', 'Readable by all; set by platform admins alone.'),
  chips: true,
}

/** Fields of a node that platform admins set. */
export const nodeAdminFields = (node: object): FieldSpec[] =>
  filledWith(node, [
    TAGS_ADMIN,
    {
      ...text('search_ranking', 'Search ranking', 'Lower comes first; 5 unless set.'),
      isNumber: true,
    },
    { ...text('github_stars', 'GitHub stars'), isNumber: true },
    {
      ...text('preempted_host_node_names', 'Reserved node names', 'They always lead to this pack.'),
      chips: true,
    },
  ])

/** Fields of a version that platform admins set. */
export const versionAdminFields = (version: Supporting): FieldSpec[] =>
  filledWith(version, [TAGS_ADMIN, ...supportFields(version)])
