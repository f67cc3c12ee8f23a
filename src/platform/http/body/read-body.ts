import type { Request, Response } from 'express'
import { Type } from 'typebox'

import { shown } from '../../domain/errors.ts'
import { makeIssue, type Issue } from '../../domain/validate.ts'
import { fingerprintOf, fingerprintsOf } from '../../json-body/fingerprint.ts'
import type { Fingerprints, NameLink } from '../../json-body/fingerprint.ts'
import { makeValidateBody, type BodyRules, type ValidBody } from '../../json-body/validate-body.ts'
import { SMALL_BODY } from '../../json-body/body-limits.ts'
import type { Translation } from '../../alias/translation.ts'
import { hasBody, requireJson } from '../../json-body/media-type.ts'
import { readJsonBody, type BodyDeps, type JsonBody } from '../../json-body/read-json-body.ts'
import { tooLarge } from '../../json-body/source.ts'
import { sendContinue } from '../serve/expect.ts'
import { rawQuery } from '../serve/query.ts'
import { changes, type BodySpec, type Route } from '../route.ts'

/** The body of a request, read and validated. */
export interface ReadBody extends ValidBody {
  /** Those of the query and of what the body means. */
  fingerprints(): Fingerprints
  /** Removes the files of images that nobody took over. */
  discard(): Promise<void>
}

export interface BodyReaderDeps extends BodyDeps {
  signer: { nameLink: NameLink }
}

/** Makes the reader of a route's body. A route without one leaves it unread. */
export const makeBodyReader = (deps: BodyReaderDeps, route: Route) => {
  const spec = bodyOf(route)
  if (!spec)
    return { check: () => {}, read: (request: Request) => Promise.resolve(noBody(request)) }
  const validate = makeValidateBody(rulesOf(route, spec))
  return {
    /** Rejects a request by its headers alone, before anything is claimed or read. */
    check(request: Request): void {
      if (!hasBody(request.headers)) return
      requireJson(request.headers)
      if (Number(request.headers['content-length'] ?? 0) > spec.maxBytes)
        throw tooLarge(spec.maxBytes)
    },
    async read(
      request: Request,
      response: Response,
      { address, translation }: { address: string; translation: Translation | undefined },
    ): Promise<ReadBody> {
      if (!route.body && !hasBody(request.headers)) return noBody(request)
      const given = await readJsonBody(request, {
        ...spec,
        budget: deps.budget,
        address,
        scratchDir: deps.scratchDir,
        maxImageBytes: deps.maxImageBytes,
        maxPixels: deps.maxImagePixels,
        emptyAllowed: spec.required === false,
        onAccept: () => sendContinue(request, response),
      })
      const translated = translation?.body(given.value) ?? given.value
      const { value, issues } = withHeader(spec, request, translated)
      const body = { ...given, value }
      // Only a key compares it: of a large body it takes longer than all else.
      const prints = hasKey(request)
        ? fingerprintsOf(rawQuery(request.url), body, deps.signer.nameLink)
        : ofNoBody(request)
      const validated = validate(body, request.params)
      return {
        ...validated,
        issues: [...validated.issues, ...issues],
        fingerprints: () => prints,
        discard: body.discard,
      }
    },
  }
}

/** Whoever sends a body to a change that takes none believes that something reads it. */
const NOTHING: BodySpec = { ...SMALL_BODY, schema: Type.Object({}), required: false }

/** Rules for the body that a client may send. */
export const bodyOf = (route: Route): BodySpec | undefined =>
  route.body ??
  (changes(route) && !route.rawBody && route.unread !== 'ignored' ? NOTHING : undefined)

/** Rules of a route's body, and for what nothing reads of its requests. */
export const rulesOf = <Spec extends Partial<BodySpec>>(
  { unread, validate, listIneffective }: Route,
  spec: Spec,
): Spec & Partial<BodyRules> => ({ ...spec, unread, validate, listIneffective })

/** Adds to a body the member that a header gives. */
const withHeader = (
  { headerMember }: BodySpec,
  request: Request,
  value: JsonBody['value'],
): { value: JsonBody['value']; issues: Issue[] } => {
  const text = headerMember && request.get(headerMember.header)
  if (!headerMember || text === undefined) return { value, issues: [] }
  const { header, member, expectation, read } = headerMember
  const given = read(text)
  if (given === undefined)
    return { value, issues: [makeIssue(header, `must be ${expectation}, got ${shown(text)}`)] }
  if ((value[member] ?? null) === null) return { value: { ...value, [member]: given }, issues: [] }
  const issue = makeIssue(`/${member}`, `must be absent beside the header ${header}`)
  return { value, issues: [{ ...issue, isUnwanted: true }] }
}

const hasKey = ({ headers }: Request): boolean => headers['idempotency-key'] !== undefined

const ofNoBody = (request: Request): Fingerprints => [fingerprintOf(rawQuery(request.url), '')]

const noBody = (request: Request): ReadBody => ({
  value: undefined,
  inline: new Map(),
  issues: [],
  unread: [],
  fingerprints: () => ofNoBody(request),
  discard: () => Promise.resolve(),
})
