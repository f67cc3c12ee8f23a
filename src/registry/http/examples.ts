const TIME = '2026-01-01T00:00:00.000Z'

const VERSION_ID = '4b3f7c1e-2a5d-4f8e-9c60-1d2e3f4a5b6c'
const MEMBER_ID = '9f1d0c2b-3e4a-4d5b-8c6f-7a8b9c0d1e2f'

const NODE_PUBLISHER = {
  id: 'acme',
  name: 'Acme',
  website: 'https://acme.example.com',
  status: 'PublisherStatusActive',
  createdAt: TIME,
}

export const MEMBER = {
  id: MEMBER_ID,
  role: 'owner',
  user: { id: 'alice', name: 'Alice', email: 'alice@example.com' },
}

export const PUBLISHER = { ...NODE_PUBLISHER, members: [MEMBER] }

export const VERSION = {
  id: VERSION_ID,
  node_id: 'image-tools',
  version: '1.2.0',
  status: 'NodeVersionStatusActive',
  status_reason: 'Passed automated checks',
  deprecated: false,
  createdAt: TIME,
  host_node_extract_status: 'success',
  host_nodes: { count: 1, partial: false, source: 'derived' },
  changelog: 'Faster blur.',
  dependencies: ['numpy>=2'],
  downloadUrl: 'https://kiln.example.com/archives/acme/image-tools/1.2.0/node.zip',
  supported_os: ['Linux', 'Windows'],
  supported_accelerators: ['CUDA'],
  tags: [],
  tags_admin: [],
}

const PENDING_VERSION = (() => {
  const { downloadUrl: _none, ...version } = VERSION
  return {
    ...version,
    status: 'NodeVersionStatusPending',
    status_reason: 'waiting for the archive',
    host_node_extract_status: 'pending',
  }
})()

export const NODE = {
  id: 'image-tools',
  name: 'Image tools',
  description: 'Blur, sharpen and resize.',
  repository: 'https://git.example.com/acme/image-tools',
  license: '{"file": "LICENSE"}',
  tags: ['image'],
  supported_os: ['Linux', 'Windows'],
  supported_accelerators: ['CUDA'],
  status: 'NodeStatusActive',
  created_at: TIME,
  downloads: 17,
  github_stars: 3,
  rating: 4.5,
  rating_count: 2,
  search_ranking: 5,
  preempted_host_node_names: [],
  tags_admin: [],
  publisher: NODE_PUBLISHER,
  availability: 'available',
  latest_version: VERSION,
}

export const HOST_NODE = {
  host_node_name: 'BlurImage',
  display_name: 'Blur Image',
  category: 'image/filter',
  description: 'Blurs an image.',
  function: 'blur',
  deprecated: false,
  experimental: false,
  output_node: false,
  input_types: '{"required": {"image": ["IMAGE"]}}',
  return_types: '["IMAGE"]',
  return_names: '["image"]',
  output_is_list: [false],
  dynamic: [],
  policy: 'HostNodePolicyActive',
}

export const HOST_POLICY = {
  node_id: 'image-tools',
  host_node_name: 'BlurImage',
  policy: 'HostNodePolicyBanned',
  policy_reason: 'it deletes files',
  versions: 2,
  other_node_ids: ['image-tools-fork'],
}

export const TOKEN = {
  id: '7d6c5b4a-3f2e-4d1c-8b0a-9f8e7d6c5b4a',
  name: 'release pipeline',
  scope: 'publish',
  token: 'kiln_pat_…1cD2',
  createdAt: TIME,
  created_by: 'alice',
  last_used_at: TIME,
}

export const TRUST = {
  provider: 'github',
  claims: { repository_id: '123456789', workflow_file: '.github/workflows/publish.yml' },
}

export const TRUSTED = {
  id: '3e2d1c0b-9a8f-4e7d-8c6b-5a4f3e2d1c0b',
  node_id: 'image-tools',
  ...TRUST,
  issuer: 'https://token.actions.githubusercontent.com',
  created_by: 'alice',
  createdAt: TIME,
}

export const REVIEW = {
  id: '5e4d3c2b-1a0f-4e9d-8c7b-6a5f4e3d2c1b',
  version_id: VERSION_ID,
  note: 'The flagged call is in a test.',
  createdAt: TIME,
}

export const RATING = {
  id: '1c2b3a4d-5e6f-4a7b-8c9d-0e1f2a3b4c5d',
  node_id: 'image-tools',
  author: { id: 'bob', name: 'Bob', is_member: false },
  stars: 4,
  text: 'Fast, and the masks have clean edges.',
  version: '1.2.0',
  createdAt: TIME,
  status: 'visible',
  reply: { text: 'Thank you. Resizing comes next.', at: TIME },
  is_mine: false,
}

export const FINDINGS = {
  counts: { high: 0, medium: 0, info: 0 },
  findings: [],
  extraction: { status: 'pending', partial: false },
  reviews: [],
  moves: [
    {
      at: TIME,
      to: 'NodeVersionStatusPending',
      reason: 'waiting for the archive',
      actor: 'user:alice',
    },
  ],
}

export const AUDIT_ENTRY = {
  id: '2c1b0a9f-8e7d-4c6b-8a5f-4e3d2c1b0a9f',
  at: TIME,
  actor: 'root',
  action: 'publisher.ban',
  target: 'publisher/acme',
  before: { status: 'PublisherStatusActive' },
  after: { status: 'PublisherStatusBanned' },
  reason: 'spam',
  address: '203.0.113.7',
  credential: 'jwt',
  request_id: '3f0c2a7e-6a3e-4d43-9c1b-2b8f0d3c5a11',
}

export const PUBLISHED = {
  node_version: PENDING_VERSION,
  signedUrl: `https://kiln.example.com/uploads/${VERSION_ID}?expires=1767229200&max=268435456&signature=q3`,
}

/** As the publishing tool sends it: empty for everything that a project file leaves out. */
export const PUBLISH = {
  node: { id: 'image-tools', name: 'Image tools', description: '', tags: [] },
  node_version: { version: '1.2.0', dependencies: ['numpy>=2'], changelog: 'Faster blur.' },
  personal_access_token: 'kiln_pat_0123456789ABCDEFGHIJKLMNOPQRST0aB1cD',
}
