import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { KilnError } from '../../client/src/index.ts'
import { fileLink, httpsLink, ownLink, ownPath, shareLink, tokenIn } from '../src/api/links.ts'
import { inPlainWords, sortIssues } from '../src/api/issues.ts'
import {
  oneOf,
  parseSearch,
  search,
  someOf,
  text,
  texts,
  time,
  writeSearch,
} from '../src/search-params.ts'
import { nextStep } from '../src/words/errors.ts'
import { wordsOf } from '../src/words/states.ts'
import { showBytes, showControls, showDaysLeft, showSeconds, showTime } from '../src/words/text.ts'
import { ERROR_CODES } from '../../../src/platform/domain/errors.ts'

const PAGE = 'http://localhost:8080'

describe('links', () => {
  const OWN: [link: string | undefined, path: string | undefined][] = [
    ['http://127.0.0.1:8080/files/a/b.jpg?signature=x', '/files/a/b.jpg?signature=x'],
    ['https://kiln.example.com/uploads/a?expires=1', '/uploads/a?expires=1'],
    ['/archives/p/n/1.0.0/node.zip', '/archives/p/n/1.0.0/node.zip'],
    ['https://evil.example.com/other', undefined],
    ['http://127.0.0.1:8080/files/../users', undefined],
    ['javascript:alert(1)', undefined],
    [undefined, undefined],
  ]
  for (const [link, path] of OWN)
    test(`${link} is ${path} of this service`, () => assert.equal(ownLink(link, PAGE), path))

  test('a file opens by its signature alone', () => {
    const link = 'http://127.0.0.1:8080/files/a/b.jpg'
    assert.equal(fileLink(link, PAGE), undefined)
    assert.equal(fileLink(`${link}?signature=x`, PAGE), '/files/a/b.jpg?signature=x')
  })

  test('that share a task have its token where no server sees it', () => {
    const link = new URL(shareLink('id', 'kiln_task_0a', PAGE))
    assert.equal(link.pathname + link.search, '/console/tasks/id')
    assert.equal(tokenIn(link.hash), 'kiln_task_0a')
    for (const other of ['', '#token=', '#token=kiln_key_0a', '#token=kiln_task_0a&x', 'x'])
      assert.equal(tokenIn(other), undefined)
  })

  const OUT: [address: string, href: string | undefined][] = [
    ['https://example.com/a b', 'https://example.com/a%20b'],
    ['http://example.com/', undefined],
    ['javascript:alert(1)//https://example.com', undefined],
    ['data:text/html,x', undefined],
    ['https://user:password@example.com/', undefined],
    ['//example.com', undefined],
    ['nonsense', undefined],
  ]
  for (const [address, href] of OUT)
    test(`${address} leads to ${href}`, () => assert.equal(httpsLink(address)?.href, href))

  const BACK: [path: string | undefined, to: string][] = [
    ['/console/tasks?q=a#b', '/console/tasks?q=a#b'],
    ['/docs', '/console/'],
    ['//evil.example.com/console/', '/console/'],
    ['https://evil.example.com/console/', '/console/'],
    ['/console/../docs', '/console/'],
    [undefined, '/console/'],
  ]
  for (const [path, to] of BACK)
    test(`after signing in ${path} is ${to}`, () => assert.equal(ownPath(path, PAGE), to))
})

describe('issues', () => {
  const issue = (...details: string[]) =>
    new KilnError({ code: 'validation_failed', message: 'no', details })

  test('go to their fields, and what has none to the summary', () => {
    const error = issue(
      '/name must be short, got "x"',
      '/name must be a word',
      '/images/0/url must be https',
      '?kind must be one of a, b',
      '/other must be there',
      'task_prompt_policy',
    )
    assert.deepEqual(sortIssues(error, ['/name', '/images', '?kind', '/nam']), {
      fields: {
        '/name': 'Must be short, got "x". Must be a word',
        '/images': 'Must be https',
        '?kind': 'Must be one of a, b',
      },
      rest: ['Other must be there', 'task_prompt_policy'],
    })
  })

  test('are said without pointers, instants and backticks', () => {
    const at = '2026-11-30T10:00:00.000Z'
    const time = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short' })
    assert.equal(
      inPlainWords(`/advanced_settings/0: excludes \`hdr\` until ${at}`),
      `Advanced settings 1 excludes hdr until ${time.format(new Date(at))}`,
    )
    assert.equal(inPlainWords('Ask GET /tasks/{id} again'), 'Ask GET /tasks/{id} again')
  })

  test('of anything else there are none', () => {
    assert.deepEqual(sortIssues(new Error('x'), ['/name']), { fields: {}, rest: [] })
  })

  test('a next step is named for known codes alone', () => {
    const codes = Object.keys(ERROR_CODES)
    const reported = codes.filter((code) => nextStep(code) !== undefined)
    assert.ok(reported.length >= 25, String(reported.length))
    assert.equal(nextStep('nothing_of_the_kind'), undefined)
  })
})

describe('search parameters', () => {
  const read = search({
    q: text,
    kind: oneOf('a', 'b'),
    tag: texts,
    from: time,
    of: someOf((word) => ['a', 'b'].includes(word)),
  })

  test('are plain, and lists are names that come more than once', () => {
    const query = '?q=a+b&tag=x&tag=y&n=1'
    assert.deepEqual(parseSearch(query), { q: 'a b', tag: ['x', 'y'], n: '1' })
    const values = { q: 'a b', tag: ['x', 'y'], none: undefined, empty: '' }
    assert.equal(writeSearch(values), '?q=a+b&tag=x&tag=y')
    assert.equal(writeSearch({}), '')
  })

  test('that are wrong count as absent', () => {
    const none = { q: undefined, kind: undefined, tag: undefined, from: undefined, of: undefined }
    const raw = { q: ['a', 'b'], kind: 'c', tag: 'x', from: 'soon', of: 'a,c', other: '1' }
    // The router keeps the wrong value of a name that is not there.
    assert.deepEqual(read(raw), { ...none, tag: ['x'] })
    const right = { q: '7', kind: 'b', from: '2026-01-31', of: 'b,a' }
    assert.deepEqual(read(right), { ...none, ...right })
  })
})

describe('words', () => {
  test('characters that hide or turn others are shown', () => {
    assert.equal(showControls('a\u202Eb\u0000c\u200Bd\n'), 'aU+202EbU+0000cU+200Bd\n')
  })

  test('of each state there are some, and of an unknown one its own', () => {
    const states = ['CREATED', 'queueing', 'success', 'exhausted', 'NodeVersionStatusFlagged']
    for (const state of states) assert.notEqual(wordsOf(state).word, state)
    assert.equal(wordsOf('some_new_state').word, 'some new state')
    // A publisher publishes; it is not published.
    assert.equal(wordsOf('PublisherStatusActive').word, 'active')
    assert.equal(wordsOf('NodeVersionStatusActive').word, 'published')
    // The word is the API's own, the icon is not.
    assert.notEqual(wordsOf('superseded').Icon, wordsOf('some_new_state').Icon)
  })

  const NOW = Date.parse('2026-06-01T12:00:00Z')
  const TIMES: [iso: string, shown: string][] = [
    ['2026-06-01T11:59:58Z', 'now'],
    ['2026-06-01T11:59:18Z', '42 s ago'],
    ['2026-06-01T12:03:10Z', 'in 3 min'],
    ['2026-06-01T01:00:00Z', '11 h ago'],
    ['2026-05-30T12:00:00Z', 'May 30, 2026'],
  ]
  for (const [iso, shown] of TIMES)
    test(`${iso} is ${shown}`, () => assert.equal(showTime(new Date(iso), NOW), shown))

  const ENDS: [iso: string, shown: string | undefined][] = [
    ['2026-06-08T12:00:01Z', undefined],
    ['2026-06-08T12:00:00Z', '7 days left'],
    ['2026-06-02T12:00:00Z', '1 day left'],
    ['2026-06-02T11:59:59Z', 'less than a day left'],
  ]
  for (const [iso, shown] of ENDS)
    test(`a key until ${iso} is marked with ${shown ?? 'nothing'}`, () =>
      assert.equal(showDaysLeft(new Date(iso), NOW), shown))

  const SIZES: [bytes: number, shown: string][] = [
    [0, '0 B'],
    [999, '999 B'],
    [1000, '1.0 kB'],
    [12_345, '12 kB'],
    [268_435_456, '268 MB'],
  ]
  for (const [bytes, shown] of SIZES)
    test(`${bytes} bytes are ${shown}`, () => assert.equal(showBytes(bytes), shown))

  const SPANS: [seconds: number, shown: string][] = [
    [0.12, '120 ms'],
    [3.21, '3.2 s'],
    [190, '3 min 10 s'],
    [7200, '2 h'],
    [300_000, '3 d'],
  ]
  for (const [seconds, shown] of SPANS)
    test(`${seconds} s are ${shown}`, () => assert.equal(showSeconds(seconds), shown))
})
