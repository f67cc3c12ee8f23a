import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import type { TSchema } from 'typebox'

import {
  judgeNodeAdminUpdate,
  judgeVersionAdminUpdate,
} from '../../src/domain/registry/admin-judge.ts'
import { judgeExpiry } from '../../src/domain/shared/expiry.ts'
import { MemberUpdate } from '../../src/domain/registry/member.ts'
import { judgeNewNode, judgeNodeUpdate } from '../../src/domain/registry/node-judge.ts'
import { NewNode, NodeAdminUpdate, NodeUpdate } from '../../src/domain/registry/node.ts'
import { NewPersonalAccessToken } from '../../src/domain/registry/personal-access-token.ts'
import { PublishBody, publishedFields } from '../../src/domain/registry/publish.ts'
import { judgePublisher } from '../../src/domain/registry/publisher-judge.ts'
import {
  NewPublisher,
  PublisherBan,
  PublisherUpdate,
  RESERVED_PUBLISHER_IDS,
} from '../../src/domain/registry/publisher.ts'
import { listEmptyIsAbsent } from '../../src/domain/registry/registry-fields.ts'
import { NewReview } from '../../src/domain/registry/review.ts'
import { makeValidator, onePerField, sortFaults } from '../../src/domain/shared/validate.ts'
import type { Fault } from '../../src/domain/shared/validate.ts'
import { judgePublish } from '../../src/domain/registry/version-judge.ts'
import { BulkVersionsBody } from '../../src/domain/registry/version-query.ts'
import { VersionAdminUpdate, VersionUpdate } from '../../src/domain/registry/version.ts'

type Judge = (body: Readonly<Record<string, unknown>>) => Fault[]

/** Reads a body as a route does: its schema, then the rules beside it. */
const makeReader = (schema: TSchema, judge: Judge = () => []) => {
  const validate = makeValidator(schema, listEmptyIsAbsent(schema))
  return (body: object) => {
    const { value, faults } = validate(body)
    const rules = judge(value as Record<string, unknown>)
    return { value, faults: sortFaults(schema, onePerField(faults, rules)) }
  }
}

type Reader = ReturnType<typeof makeReader>

const refuses = (read: Reader, cases: [what: string, body: object, ...faults: string[]][]) => {
  for (const [what, body, ...expected] of cases)
    test(`refuses ${what}`, () =>
      assert.deepEqual(
        read(body).faults.map(({ field, code }) =>
          code === 'validation_failed' ? field : `${field} ${code}`,
        ),
        expected,
      ))
}

const takes = (read: Reader, cases: [what: string, body: object, value?: object][]) => {
  for (const [what, body, value] of cases)
    test(`takes ${what}`, () => assert.deepEqual(read(body), { value: value ?? body, faults: [] }))
}

const long = (length: number): string => 'é'.repeat(length)
const list = (length: number, item: unknown = 'a'): unknown[] => Array.from({ length }, () => item)

const STRAY = {
  status: 5,
  status_detail: [],
  createdAt: {},
  created_at: 1,
  downloads: 'x',
  rating: 'x',
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
  const read = makeReader(NewPublisher, judgePublisher)
  takes(read, [
    ['an id alone', { id: 'a' }],
    ['an id of 64 characters', { id: 'a'.repeat(64) }],
    ['marks in an id', { id: 'a-0-' }],
    ['members that are not settable, whatever they hold', { id: 'acme', ...STRAY }, { id: 'acme' }],
    ['null as absent', { id: 'acme', name: null, logo: null }, { id: 'acme' }],
    ['empty texts', { id: 'acme', name: '', description: '', logo: '', website: '', support: '' }],
    [
      'the longest texts',
      { id: 'a', name: long(128), description: long(1_000), support: long(2_048) },
    ],
  ])
  refuses(read, [
    ['no id', {}, '/id'],
    ...['Acme', '1a', 'a_b', 'a'.repeat(65), '', '-a', 'a\n', ...RESERVED_PUBLISHER_IDS].map(
      (id): [string, object, string] => [`the id ${JSON.stringify(id)}`, { id }, '/id'],
    ),
    [
      'texts too long',
      { id: 'a', name: long(129), description: long(1_001) },
      '/name',
      '/description',
    ],
    ['a number for a text', { id: 'a', support: 5 }, '/support'],
    ['a logo that is a script', { id: 'a', logo: 'javascript:x' }, '/logo url_refused'],
    [
      'a repository of git',
      { id: 'a', source_code_repo: 'git://a' },
      '/source_code_repo url_refused',
    ],
  ])
})

describe('the body of a publisher’s change', () => {
  const read = makeReader(PublisherUpdate, judgePublisher)
  takes(read, [
    ['nothing', {}],
    ['an id, which is not settable', { id: 5, name: 'Acme' }, { name: 'Acme' }],
    ['empty texts, which clear', { description: '', website: '' }],
  ])
})

describe('the body of a token', () => {
  const read = makeReader(NewPersonalAccessToken, judgeExpiry)
  takes(read, [
    ['a name', { name: 'ci' }],
    [
      'an empty expiry as none',
      { name: 'ci', description: '', expires_at: '' },
      { name: 'ci', description: '' },
    ],
    ['what only the service sets', { name: 'ci', token: 5, id: 5, created_by: 5 }, { name: 'ci' }],
  ])
  refuses(read, [
    ['no name', {}, '/name'],
    ['an empty name', { name: '' }, '/name'],
    ['a name of 129 characters', { name: long(129) }, '/name'],
    ['a description of 1,001', { name: 'ci', description: long(1_001) }, '/description'],
    ['an expiry that is no time', { name: 'ci', expires_at: 'tomorrow' }, '/expires_at'],
    [
      'an expiry beyond 9999',
      { name: 'ci', expires_at: '9999-12-31T23:59:59-01:00' },
      '/expires_at',
    ],
    ['an expiry in year 0', { name: 'ci', expires_at: '0000-01-01T00:00:00Z' }, '/expires_at'],
  ])
})

describe('the body of a new node', () => {
  const read = makeReader(NewNode, judgeNewNode)
  takes(read, [
    ...['a', '0a', 'a--b', 'A.b_c-d', 'searches', 'v2x', 'x'.repeat(100)].map(
      (id): [string, object] => [`the id ${id}`, { id }],
    ),
    ['members that are not settable, whatever they hold', { id: 'a', ...STRAY }, { id: 'a' }],
    [
      'all that a member may set',
      {
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
      },
    ],
    [
      'empty texts for lists and translations',
      { id: 'a', tags: '', translations: '' },
      { id: 'a' },
    ],
  ])
  refuses(read, [
    ...[
      '-a',
      'a b',
      '../x',
      'a-',
      'x'.repeat(101),
      '',
      'search',
      'Search',
      'v2',
      'V2',
      'ä',
      'a\n',
    ].map((id): [string, object, string] => [`the id ${JSON.stringify(id)}`, { id }, '/id']),
    ['a text for a list', { id: 'a', tags: 'a' }, '/tags'],
    [
      'too many and too long tags',
      { id: 'a', tags: list(51), supported_os: [long(101)] },
      '/tags',
      '/supported_os/0',
    ],
    ['a description of 1,001', { id: 'a', description: long(1_001) }, '/description'],
    ['an icon that is a script', { id: 'a', icon: 'javascript:x' }, '/icon url_refused'],
    [
      'a URL too long',
      { id: 'a', repository: `https://${long(2_048)}` },
      '/repository url_refused',
    ],
    ['translations of another form', { id: 'a', translations: { ko: 'x' } }, '/translations/ko'],
    [
      'a translation that is no text',
      { id: 'a', translations: { ko: { 'a/b': 1 } } },
      '/translations/ko/a~1b',
    ],
    ['a list for translations', { id: 'a', translations: [] }, '/translations'],
    [
      'too long translations',
      { id: 'a', translations: { ko: { x: long(65_536) } } },
      '/translations',
    ],
    ['two faults', { id: 'a b', icon: 'x:y' }, '/id', '/icon url_refused'],
  ])

  test('says field, expectation and value', () => {
    assert.deepEqual(
      read({ id: 'a', tags: 'a', translations: { ko: { x: 1 } } }).faults.map((f) => f.message),
      [
        '/tags must be a list of at most 50 strings, got "a"',
        '/translations/ko/x must be a string, got 1',
      ],
    )
  })
})

describe('the body of a node’s change', () => {
  const read = makeReader(NodeUpdate, (body) => judgeNodeUpdate(body, { nodeId: 'Pack' }))
  takes(read, [
    ['nothing', {}],
    ['the id in another case', { id: 'pACK' }],
    ['an empty id', { id: '' }],
    ['empty texts and lists, which clear', { name: '', tags: [], repository: '' }],
  ])
  refuses(read, [
    ['another id', { id: 'pack2' }, '/id id_mismatch'],
    ['another id beside another fault', { id: 'x', tags: 'a' }, '/id id_mismatch', '/tags'],
  ])
})

describe('the publish body', () => {
  const read = makeReader(PublishBody, (body) => judgePublish(body, { nodeId: 'pack' }))
  const S = {
    supported_os: [],
    supported_accelerators: [],
    supported_host_version: '',
    supported_host_frontend_version: '',
  }
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
  takes(read, [
    ['what the real CLI sends', CLI],
    [
      'members that are not settable, whatever they hold',
      {
        ...CLI,
        node: STRAY,
        node_version: { version: '1.0.0', id: 1, node_id: 2, ...STRAY, downloadUrl: 5 },
      },
      { ...CLI, node: {}, node_version: { version: '1.0.0' } },
    ],
    ['an empty token, which is wrong rather than absent', { ...CLI, personal_access_token: '' }],
  ])
  refuses(read, [
    ['nothing', {}, '/node', '/node_version', '/personal_access_token'],
    ['no token', { ...CLI, personal_access_token: null }, '/personal_access_token'],
    ['no version', { ...CLI, node_version: {} }, '/node_version/version'],
    [
      'a malformed version',
      { ...CLI, node_version: { version: '1.2.3.4' } },
      '/node_version/version version_invalid',
    ],
    [
      'an empty version',
      { ...CLI, node_version: { version: '' } },
      '/node_version/version version_invalid',
    ],
    ['another id', { ...CLI, node: { id: 'other' } }, '/node/id id_mismatch'],
    [
      'a text for a list',
      { ...CLI, node_version: { version: '1.0.0', dependencies: 'x' } },
      '/node_version/dependencies',
    ],
    [
      'too many, too long',
      {
        ...CLI,
        node_version: { version: '1.0.0', changelog: long(65_537), dependencies: list(501) },
      },
      '/node_version/changelog',
      '/node_version/dependencies',
    ],
    ['an icon that is a script', { ...CLI, node: { icon: 'data:x' } }, '/node/icon url_refused'],
  ])

  test('tells the expectation, and no secret', () => {
    const body = {
      ...CLI,
      node_version: { version: '1.2.3.4' },
      personal_access_token: { secret: 'kiln_pat_x' },
    }
    const messages = read(body).faults.map(({ message }) => message)
    assert.equal(messages.length, 2)
    assert.match(messages[0] ?? '', /such as 1\.0\.0, .* got "1\.2\.3\.4"$/)
    assert.equal(messages[1], '/personal_access_token must be a string, got something else')
  })

  test('judges the id in the path, under which a node may be created', () => {
    const faults = judgePublish(CLI, { nodeId: 'a b' })
    assert.deepEqual(
      faults.map(({ code }) => code),
      ['validation_failed', 'id_mismatch'],
    )
  })

  test('keeps of the node what is not empty', () => {
    assert.deepEqual(publishedFields(CLI.node), {
      license: '{"file": "LICENSE"}',
      repository: 'https://example.com/a',
    })
  })
})

describe('the body of a version’s change', () => {
  const read = makeReader(VersionUpdate)
  takes(read, [
    ['nothing', {}],
    ['both', { changelog: '', deprecated: false }],
    ['an empty flag as absent', { deprecated: '' }, {}],
    ['what is not settable', { version: 5, status: 5, tags: 5 }, {}],
  ])
  refuses(read, [['a text for a flag', { deprecated: 'yes' }, '/deprecated']])
})

describe('bodies of admins', () => {
  const node = makeReader(NodeAdminUpdate, (body) =>
    judgeNodeAdminUpdate(body, { nodeId: 'Tools' }),
  )
  const version = makeReader(VersionAdminUpdate, judgeVersionAdminUpdate)
  takes(node, [
    ['a ban with its reason', { status: 'NodeStatusBanned', status_detail: 'spam' }],
    ['another status without', { status: 'NodeStatusActive', search_ranking: 1, github_stars: 0 }],
    ['what a member sets, under the id in the path', { id: 'tools', name: 'x', supported_os: [] }],
    [
      'empty texts as absent',
      { status: '', search_ranking: '', status_detail: '' },
      { status_detail: '' },
    ],
  ])
  refuses(node, [
    ['a ban without a reason', { status: 'NodeStatusBanned' }, '/status_detail'],
    [
      'a ban with an empty one',
      { status: 'NodeStatusBanned', status_detail: ' ' },
      '/status_detail',
    ],
    [
      'numbers out of range',
      { search_ranking: 11, github_stars: -1 },
      '/search_ranking',
      '/github_stars',
    ],
    ['another id', { id: 'other', name: 'x' }, '/id id_mismatch'],
    ['nothing to set', { id: 'tools', publisher: { id: 'a' }, downloads: 5, supported: 'x' }, ''],
    ['half a ranking', { search_ranking: 1.5 }, '/search_ranking'],
    ['an unknown status', { status: 'Banned' }, '/status'],
    ['too many names', { preempted_host_node_names: list(501) }, '/preempted_host_node_names'],
  ])
  takes(version, [
    ['a flag with its reason', { status: 'NodeVersionStatusFlagged', status_reason: 'x' }],
    ['policies by name', { host_node_policies: { 'a b': 'HostNodePolicyBanned' } }],
    ['a release without a reason', { status: 'NodeVersionStatusActive' }],
  ])
  takes(version, [['what it supports', { supported_os: ['Linux'], supported_host_version: '' }]])
  refuses(version, [
    ['nothing to set', { version: '1.0.0', supported: 'x' }, ''],
    ['a flag without a reason', { status: 'NodeVersionStatusFlagged' }, '/status_reason'],
    ['a ban without a reason', { status: 'NodeVersionStatusBanned' }, '/status_reason'],
    ['a reason of 2,001', { status_reason: long(2_001) }, '/status_reason'],
    ['an unknown policy', { host_node_policies: { a: 'Banned' } }, '/host_node_policies/a'],
  ])
})

describe('other bodies', () => {
  takes(makeReader(MemberUpdate), [['a role', { role: 'admin' }]])
  refuses(makeReader(MemberUpdate), [
    ['no role', {}, '/role'],
    ['an unknown role', { role: 'Owner' }, '/role'],
  ])
  refuses(makeReader(PublisherBan), [
    ['a ban without a reason', {}, '/reason'],
    ['a ban with an empty one', { reason: '' }, '/reason'],
  ])
  takes(makeReader(NewReview), [['a review without a note', {}]])
  refuses(makeReader(NewReview), [['a note of 1,001', { note: long(1_001) }, '/note']])
  const bulk = makeReader(BulkVersionsBody)
  const wanted = { node_id: 'a', version: 'x' }
  takes(bulk, [['500 versions', { node_versions: list(500, wanted) }]])
  refuses(bulk, [
    ['none', { node_versions: [] }, '/node_versions'],
    ['501', { node_versions: list(501, wanted) }, '/node_versions'],
    [
      'one without a version',
      { node_versions: [wanted, { node_id: 'a' }] },
      '/node_versions/1/version',
    ],
  ])
})
