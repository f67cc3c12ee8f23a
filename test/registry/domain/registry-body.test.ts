import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import type { TSchema } from 'typebox'

import {
  validateNodeAdminUpdate,
  validateVersionAdminUpdate,
} from '../../../src/registry/domain/admin-validation.ts'
import { validateExpiry } from '../../../src/platform/domain/expiry.ts'
import { MemberUpdate } from '../../../src/registry/domain/member.ts'
import {
  validateNewNode,
  validateNodeUpdate,
} from '../../../src/registry/domain/node-validation.ts'
import { NewNode, NodeAdminUpdate, NodeUpdate } from '../../../src/registry/domain/node.ts'
import { NewPersonalAccessToken } from '../../../src/identity/domain/personal-access-token.ts'
import { PublishBody, publishedFields } from '../../../src/registry/domain/publish.ts'
import { validatePublisher } from '../../../src/registry/domain/publisher-validation.ts'
import {
  NewPublisher,
  PublisherBan,
  PublisherUpdate,
  RESERVED_PUBLISHER_IDS,
} from '../../../src/registry/domain/publisher.ts'
import { listEmptyIsAbsent } from '../../../src/platform/domain/schema-fields.ts'
import { NewReview } from '../../../src/registry/domain/review.ts'
import { makeValidator, onePerField, sortIssues } from '../../../src/platform/domain/validate.ts'
import type { Issue } from '../../../src/platform/domain/validate.ts'
import { validatePublish } from '../../../src/registry/domain/version-validation.ts'
import { BulkVersionsBody } from '../../../src/registry/domain/version-query.ts'
import { VersionAdminUpdate, VersionUpdate } from '../../../src/registry/domain/version.ts'

type Validate = (body: Readonly<Record<string, unknown>>) => Issue[]

/** Reads a body as a route does: its schema, then the rules beside it. */
const makeReader = (schema: TSchema, isValid: Validate = () => []) => {
  const validate = makeValidator(schema, listEmptyIsAbsent(schema))
  return (body: object) => {
    const { value, issues } = validate(body)
    const rules = isValid(value as Record<string, unknown>)
    return { value, issues: sortIssues(schema, onePerField(issues, rules)) }
  }
}

type Reader = ReturnType<typeof makeReader>

/** Shortens a body for a title. */
const show = (body: object): string =>
  JSON.stringify(body)
    .replaceAll(/(.)\1{9,}/g, '$1…')
    .slice(0, 70)

/** Tests each body, given with its wrong fields and the code behind one that has its own. */
const rejects = (read: Reader, cases: [body: object, ...issues: string[]][]) => {
  for (const [body, ...expected] of cases)
    test(`rejects ${show(body)} for ${expected.join(' and ')}`, () =>
      assert.deepEqual(
        read(body).issues.map(({ field, code }) =>
          code === 'validation_failed' ? field : `${field} ${code}`,
        ),
        expected,
      ))
}

/** Each body with what it is read as, unless it is kept as it is. */
const takes = (read: Reader, cases: [body: object, value?: object][]) => {
  for (const [body, value = body] of cases)
    test(`takes ${show(body)}`, () => assert.deepEqual(read(body), { value, issues: [] }))
}

const long = (length: number): string => 'é'.repeat(length)
const list = (length: number, item: unknown = 'a'): unknown[] => Array.from({ length }, () => item)
const withIds = (ids: readonly string[]) => ids.map((id): [object] => [{ id }])
const withIssue = (ids: readonly string[]) => ids.map((id): [object, string] => [{ id }, '/id'])

/** Members that only the service or an admin sets; whatever they hold, they are left out. */
const STRAY = {
  status: 5,
  status_detail: [],
  createdAt: {},
  created_at: 1,
  downloads: 'x',
  rating: 'x',
  rating_count: 'x',
  members: 'x',
  latest_version: 1,
  publisher: 1,
  search_ranking: 'x',
  tags_admin: 'x',
  github_stars: 'x',
  preempted_host_node_names: 'x',
  other: {},
}

describe('the body of a new publisher', () => {
  const read = makeReader(NewPublisher, validatePublisher)
  takes(read, [
    [{ id: 'a'.repeat(64) }],
    [{ id: 'a-0-' }],
    [{ id: 'acme', ...STRAY }, { id: 'acme' }],
    [{ id: 'acme', name: null, logo: null }, { id: 'acme' }],
    [{ id: 'acme', name: '', description: '', logo: '', website: '', support: '' }],
    [{ id: 'a', name: long(128), description: long(1_000), support: long(2_048) }],
  ])
  rejects(read, [
    [{}, '/id'],
    ...withIssue(['Acme', '1a', 'a_b', 'a'.repeat(65), '', '-a', 'a\n', ...RESERVED_PUBLISHER_IDS]),
    [{ id: 'a', name: long(129), description: long(1_001) }, '/name', '/description'],
    [{ id: 'a', support: 5 }, '/support'],
    [{ id: 'a', logo: 'javascript:x' }, '/logo url_refused'],
    [{ id: 'a', source_code_repo: 'git://a' }, '/source_code_repo url_refused'],
  ])
})

describe('the body of a publisher’s change', () => {
  takes(makeReader(PublisherUpdate, validatePublisher), [
    [{}],
    [{ id: 5, name: 'Acme' }, { name: 'Acme' }],
    [{ description: '', website: '' }],
  ])
})

describe('the body of a token', () => {
  const read = makeReader(NewPersonalAccessToken, validateExpiry)
  takes(read, [
    [
      { name: 'ci', description: '', expires_at: '' },
      { name: 'ci', description: '' },
    ],
    [{ name: 'ci', token: 5, id: 5, created_by: 5 }, { name: 'ci' }],
  ])
  rejects(read, [
    [{}, '/name'],
    [{ name: '' }, '/name'],
    [{ name: long(129) }, '/name'],
    [{ name: 'ci', description: long(1_001) }, '/description'],
    ...['tomorrow', '9999-12-31T23:59:59-01:00', '0000-01-01T00:00:00Z'].map(
      (expires_at): [object, string] => [{ name: 'ci', expires_at }, '/expires_at'],
    ),
  ])
})

describe('the body of a new node', () => {
  const read = makeReader(NewNode, validateNewNode)
  const all = {
    id: 'a',
    name: long(128),
    author: '',
    description: long(1_000),
    banner_url: 'https://example.com/b.png',
    icon: '',
    repository: 'git+https://example.com/a.git',
    license: '{"file": "LICENSE"}',
    category: 'old',
    tags: list(50, long(100)),
    supported_os: ['OS Independent'],
    supported_accelerators: ['GPU :: NVIDIA CUDA'],
    supported_host_version: '>=1',
    supported_host_frontend_version: '',
    translations: { ko: { name: '', description: 'x' }, de: {} },
  }
  takes(read, [
    ...withIds(['a', '0a', 'a--b', 'A.b_c-d', 'searches', 'v2x', 'x'.repeat(100)]),
    [{ id: 'a', ...STRAY }, { id: 'a' }],
    [all],
    [{ id: 'a', tags: '', translations: '' }, { id: 'a' }],
  ])
  const words = ['search', 'Search', 'v2', 'V2']
  rejects(read, [
    ...withIssue(['-a', 'a b', '../x', 'a-', 'x'.repeat(101), '', ...words, 'ä', 'a\n']),
    [{ id: 'a', tags: list(51), supported_os: [long(101)] }, '/tags', '/supported_os/0'],
    [{ id: 'a', description: long(1_001) }, '/description'],
    [{ id: 'a', icon: 'javascript:x' }, '/icon url_refused'],
    [{ id: 'a', repository: `https://${long(2_048)}` }, '/repository url_refused'],
    [{ id: 'a', translations: { ko: 'x' } }, '/translations/ko'],
    [{ id: 'a', translations: { ko: { 'a/b': 1 } } }, '/translations/ko/a~1b'],
    [{ id: 'a', translations: [] }, '/translations'],
    [{ id: 'a', translations: { ko: { x: long(65_536) } } }, '/translations'],
    [{ id: 'a b', icon: 'x:y' }, '/id', '/icon url_refused'],
  ])

  test('says field, expectation and value', () => {
    const { issues } = read({ id: 'a', tags: 'a', translations: { ko: { x: 1 } } })
    assert.deepEqual(
      issues.map(({ message }) => message),
      [
        '/tags must be a list of at most 50 strings, got "a"',
        '/translations/ko/x must be a string, got 1',
      ],
    )
  })
})

describe('the body of a node’s change', () => {
  const read = makeReader(NodeUpdate, (body) => validateNodeUpdate(body, { nodeId: 'Pack' }))
  takes(read, [[{}], [{ id: 'pACK' }], [{ id: '' }], [{ name: '', tags: [], repository: '' }]])
  rejects(read, [
    [{ id: 'pack2' }, '/id id_mismatch'],
    [{ id: 'x', tags: 'a' }, '/id id_mismatch', '/tags'],
  ])
})

describe('the publish body', () => {
  const read = makeReader(PublishBody, (body) => validatePublish(body, { nodeId: 'pack' }))
  const lists = { supported_os: [], supported_accelerators: [] }
  const S = { ...lists, supported_host_version: '', supported_host_frontend_version: '' }
  /** Body that the real CLI sends. */
  const CLI = {
    personal_access_token: 'kiln_pat_x',
    node: {
      id: 'pack',
      description: '',
      icon: '',
      name: '',
      license: '{"file": "LICENSE"}',
      repository: 'https://example.com/a',
      banner_url: '',
      ...S,
    },
    node_version: { version: '1.0.0', dependencies: [], ...S },
  }
  const stray = { version: '1.0.0', id: 1, node_id: 2, ...STRAY, downloadUrl: 5 }
  const withVersion = (more: object) => ({ ...CLI, node_version: { version: '1.0.0', ...more } })
  takes(read, [
    [CLI],
    [
      { ...CLI, node: STRAY, node_version: stray },
      { ...CLI, node: {}, node_version: { version: '1.0.0' } },
    ],
    // An empty token is wrong rather than absent.
    [{ ...CLI, personal_access_token: '' }],
  ])
  rejects(read, [
    [{}, '/node', '/node_version', '/personal_access_token'],
    [{ ...CLI, personal_access_token: null }, '/personal_access_token'],
    [{ ...CLI, node_version: {} }, '/node_version/version'],
    [withVersion({ version: '1.2.3.4' }), '/node_version/version version_invalid'],
    [withVersion({ version: '' }), '/node_version/version version_invalid'],
    [{ ...CLI, node: { id: 'other' } }, '/node/id id_mismatch'],
    [withVersion({ dependencies: 'x' }), '/node_version/dependencies'],
    [withVersion({ changelog: long(65_537) }), '/node_version/changelog'],
    [withVersion({ dependencies: list(501) }), '/node_version/dependencies'],
    [{ ...CLI, node: { icon: 'data:x' } }, '/node/icon url_refused'],
  ])

  test('issues of the publish body show the expectation, and no secret', () => {
    const secret = { secret: 'kiln_pat_x' }
    const body = { ...withVersion({ version: '1.2.3.4' }), personal_access_token: secret }
    const messages = read(body).issues.map(({ message }) => message)
    assert.equal(messages.length, 2)
    assert.match(messages[0] ?? '', /such as 1\.0\.0, .* got "1\.2\.3\.4"; the nearest is 1\.2\.3$/)
    assert.equal(messages[1], '/personal_access_token must be a string, got something else')
  })

  test('validates the id in the path, under which a node may be created', () => {
    const codes = validatePublish(CLI, { nodeId: 'a b' }).map(({ code }) => code)
    assert.deepEqual(codes, ['validation_failed', 'id_mismatch'])
  })

  test('keeps of the pack what is not empty', () => {
    const { license, repository } = CLI.node
    assert.deepEqual(publishedFields(CLI.node), { license, repository })
  })
})

describe('the body of a version’s change', () => {
  const read = makeReader(VersionUpdate)
  takes(read, [
    [{ changelog: '', deprecated: false }],
    [{ deprecated: '' }, {}],
    [{ version: 5, status: 5 }, {}],
    [{ tags: [], dependencies: ['numpy'] }],
  ])
  rejects(read, [
    [{ deprecated: 'yes' }, '/deprecated'],
    [{ tags: 5 }, '/tags'],
    [{ dependencies: 'numpy' }, '/dependencies'],
  ])
})

describe('bodies of admins', () => {
  const node = makeReader(NodeAdminUpdate, (body) =>
    validateNodeAdminUpdate(body, { nodeId: 'Tools' }),
  )
  const version = makeReader(VersionAdminUpdate, validateVersionAdminUpdate)
  takes(node, [
    [{ status: 'NodeStatusBanned', status_detail: 'spam' }],
    [{ status: 'NodeStatusActive', search_ranking: 1, github_stars: 0 }],
    [{ id: 'tools', name: 'x', supported_os: [] }],
    [{ status: '', search_ranking: '', status_detail: '' }, { status_detail: '' }],
  ])
  rejects(node, [
    [{ status: 'NodeStatusBanned' }, '/status_detail'],
    [{ status: 'NodeStatusBanned', status_detail: ' ' }, '/status_detail'],
    [{ search_ranking: 11, github_stars: -1 }, '/search_ranking', '/github_stars'],
    [{ id: 'other', name: 'x' }, '/id id_mismatch'],
    [{ id: 'tools', publisher: { id: 'a' }, downloads: 5, supported: 'x' }, ''],
    [{ search_ranking: 1.5 }, '/search_ranking'],
    [{ status: 'Banned' }, '/status'],
    [{ preempted_host_node_names: list(501) }, '/preempted_host_node_names'],
  ])
  takes(version, [
    [{ status: 'NodeVersionStatusFlagged', status_reason: 'x' }],
    [{ host_node_policies: { 'a b': 'HostNodePolicyBanned' } }],
    [{ status: 'NodeVersionStatusActive' }],
    [{ supported_os: ['Linux'], supported_host_version: '' }],
  ])
  rejects(version, [
    [{ version: '1.0.0', supported: 'x' }, ''],
    [{ status: 'NodeVersionStatusFlagged' }, '/status_reason'],
    [{ status: 'NodeVersionStatusBanned' }, '/status_reason'],
    [{ status_reason: long(2_001) }, '/status_reason'],
    [{ host_node_policies: { a: 'Banned' } }, '/host_node_policies/a'],
  ])
})

describe('other bodies', () => {
  takes(makeReader(MemberUpdate), [[{ role: 'admin' }]])
  rejects(makeReader(MemberUpdate), [
    [{}, '/role'],
    [{ role: 'Owner' }, '/role'],
  ])
  rejects(makeReader(PublisherBan), [
    [{}, '/reason'],
    [{ reason: '' }, '/reason'],
  ])
  takes(makeReader(NewReview), [[{}]])
  rejects(makeReader(NewReview), [[{ note: long(1_001) }, '/note']])
  const bulk = makeReader(BulkVersionsBody)
  const wanted = { node_id: 'a', version: 'x' }
  takes(bulk, [[{ node_versions: list(500, wanted) }]])
  rejects(bulk, [
    [{ node_versions: [] }, '/node_versions'],
    [{ node_versions: list(501, wanted) }, '/node_versions'],
    [{ node_versions: [wanted, { node_id: 'a' }] }, '/node_versions/1/version'],
  ])
})
