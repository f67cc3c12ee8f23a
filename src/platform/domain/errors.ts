import { counted } from './counted.ts'
import { maskCredentials } from './credential.ts'

/**
 * The one list of what can go wrong for a caller. Routes throw `errors.x(…)` and `http/serve/errors.ts` renders it.
 * OpenAPI and the page of errors are made from `ERROR_CODES`.
 */

interface ErrorCode {
  status: number
  /** The status on video routes, where their clients expect another. */
  videoStatus?: number
  meaning: string
}

/** Codes of one status, with their meanings. */
const coded = <Code extends string>(
  status: number,
  meanings: Record<Code, string>,
): Record<Code, ErrorCode> => {
  const codes = Object.entries<string>(meanings).map(([code, meaning]) => [
    code,
    { status, meaning },
  ])
  return Object.fromEntries(codes) as Record<Code, ErrorCode>
}

export const ERROR_CODES = {
  ...coded(400, {
    json_invalid: 'The body is not one well-formed JSON object.',
    json_too_deep: 'The body nests deeper than 64 levels.',
    body_required: 'The route needs a body and none was sent.',
    bad_request: 'The request is not well-formed HTTP.',
    path_invalid: 'The path must decode to UTF-8 without NUL.',
    idempotency_key_invalid: 'Idempotency-Key is not 1 to 255 visible ASCII characters.',
    validation_failed:
      'At least one member of the request breaks a rule; details lists every issue.',
    incompatible_fields: 'Two members that exclude each other were given.',
    too_many_tasks: 'The filter finds more tasks than one operation acts on.',
    url_refused:
      'A URL has a scheme, port, user or address that this service does not call, or, in the registry, a scheme or length that its member does not take.',
    version_invalid: 'The text means no version of Semantic Versioning 2.0.0.',
    id_mismatch: 'The id in the body is not the one in the path.',
    publisher_id_unavailable:
      'No publisher can be created with this id: its form, a reserved word, or taken.',
    archive_invalid: 'No bytes came, or they do not begin as a zip does.',
    image_invalid: 'An image in the body is not Base64, or not a decodable image.',
    checksum_mismatch: 'The bytes do not have the digest that a header gives.',
    pixel_limit: 'An image, or the result asked for, has too many pixels.',
  }),
  ...coded(401, { unauthorized: 'The credential is missing or not valid.' }),
  ...coded(402, { insufficient_credits: 'The charge would pass the credit limit of the caller.' }),
  ...coded(403, {
    forbidden: 'The credential is valid but does not allow this.',
    invalid_personal_access_token:
      'The personal access token is not a live one of this publisher; an admin of it can make a new one.',
    template_not_allowed: 'The template is for other owners than the caller.',
    key_scope_insufficient: 'The API key has scopes, none of which allows this.',
    token_scope_insufficient:
      'The personal access token is for another pack or publisher, or only for reading.',
    task_token_insufficient:
      'A token for one task reads that task, its stream and its results, and nothing else.',
    identity_token_refused:
      'The identity token is not valid, was exchanged before, or is not of a publisher that the pack trusts.',
    trusted_publisher_limit_reached:
      'The pack has 20 trusted publishers, which is the most: delete one first.',
    publisher_banned: 'The publisher is banned.',
    node_banned: 'The pack is banned.',
    version_blocked: 'The version is flagged or banned and cannot be installed.',
    node_owned_by_other_publisher: 'The pack belongs to another publisher.',
    publisher_limit_reached: 'The caller has created as many publishers as one user may.',
    endpoint_limit_reached: 'There are as many endpoints as one caller or publisher may have.',
    registration_closed:
      'Only members of the publisher and holders of EXTRACTION_TOKEN may report host nodes of this version: its archive could not be read, or the service takes no other reports.',
    signature_invalid:
      'The signature of the link does not match: take the whole link as a response gave it, or ask for a fresh one.',
    link_expired:
      'The link has expired; read the task again for a fresh one, or of an upload ask POST /customers/storage with its file_hash.',
    upload_expired:
      'The upload link has expired; POST /customers/storage gives a new one, and for an archive publishing the version again.',
  }),
  ...coded(404, {
    not_found: 'There is no such route.',
    task_not_found: 'There is no such task among those of the caller.',
    bulk_not_found: 'There is no such batch or operation among those of the caller.',
    template_not_found: 'There is no such template: GET /templates lists them.',
    api_key_not_found: 'There is no such API key among those of the caller.',
    event_not_found: 'The task, or endpoint, has no such event.',
    endpoint_not_found: 'There is no such endpoint among those of the caller, or of the publisher.',
    picture_not_found: 'No picture is named, or what lies at its address cannot be shown.',
    file_not_found:
      'The link names a file that is not there, or of an upload not yet: PUT it first.',
    prediction_not_found: 'Nobody waits for such a prediction.',
    upload_not_found: 'There is no such upload among those of the caller.',
    publisher_not_found: 'There is no such publisher.',
    node_not_found: 'There is no such pack, or not among those of the publisher in the path.',
    version_not_found: 'The pack has no such version.',
    version_not_installable: 'The version is not active, or the pack has no active one.',
    archive_not_found: 'There is no archive here, not yet or no longer.',
    host_node_not_found: 'There is no such host node, or not yet.',
    token_not_found: 'The publisher has no such personal access token.',
    trusted_publisher_not_found: 'The pack has no such trusted publisher.',
    report_not_found: 'There is no such open report.',
    transfer_not_found: 'There is no such open offer of a pack, of or to the publisher.',
    member_not_found: 'The user is no member of the publisher.',
    user_not_found: 'The user has never signed in.',
    review_not_found: 'The pack has no such review, or none by the caller.',
    instance_not_found: 'No worker has called an instance of this name.',
    owner_not_found: 'No owner of this id has made anything or has limits.',
    pause_not_found: 'Nothing of this scope is paused.',
  }),
  ...coded(405, { method_not_allowed: 'The path exists, with the methods in Allow.' }),
  ...coded(408, { request_timeout: 'The request arrived too slowly.' }),
  ...coded(409, {
    idempotency_in_flight:
      'The first request with this Idempotency-Key is still running; repeat it with the same key after Retry-After.',
  }),
  cannot_cancel: {
    status: 409,
    videoStatus: 400,
    meaning: 'The task or batch has already ended; a video task: is being rendered, or has ended.',
  },
  ...coded(409, {
    not_deliverable:
      'The event is for the log only, or its task names no address to deliver to or is deleted.',
    trusted_publisher_exists: 'The pack trusts jobs with this issuer and these claims already.',
    endpoint_disabled: 'The endpoint is off, so nothing is sent there.',
    publisher_exists: 'The id of the publisher is taken.',
    node_exists: 'The id of the pack is taken.',
    node_deleted: 'The id is that of a deleted pack and stays taken.',
    version_exists: 'The pack has had this version already.',
    archive_exists: 'The version has another archive already, which was decided on.',
    upload_closed: 'The version takes no archive any more: publish again for a new link.',
    upload_in_use:
      'A task that has not ended reads the upload: cancel the task, or delete the upload after its end.',
    already_registered:
      'The version has its host nodes already, from its archive or a report that weighs more. Until the archive was read, members of the publisher replace their report by another success; otherwise publish a new version.',
    last_owner: 'A publisher keeps at least one owner.',
    account_exists: 'The email address, or one that looks the same, has an account already.',
    passkey_exists: 'The passkey signs in to an account already.',
    accounts_elsewhere:
      'AUTH is not builtin here: the accounts are those of AUTH_ISSUER, so add the user there.',
    host_node_preempted: 'Another pack preempts the host node name.',
    illegal_move: 'The current status does not allow this change.',
    version_not_flagged: 'Only a flagged version is reviewed.',
    not_reviewable:
      'The archive of the version was rejected, and no review can change that: mend it and publish the same version again, its number is free.',
    nothing_to_confirm: 'Nobody has reported host nodes of the version that await a confirmation.',
    review_already_requested:
      'A review of the version is still open: a platform admin decides on it.',
    nothing_to_retry: 'The checks could run, and the extraction has not failed.',
  }),
  ...coded(410, { file_gone: 'The file was removed after its retention time, or by its owner.' }),
  ...coded(412, {
    precondition_failed: 'If-Match names another state than the one that is stored: read it again.',
  }),
  ...coded(413, {
    body_too_large: 'The body, or one image in it, is over the limit of the route.',
    file_too_large: 'The file has more than 1 MiB, which is the most that is read as text.',
  }),
  ...coded(415, {
    unsupported_media_type:
      'The body must be application/json in UTF-8, or of the types of the route.',
    unsupported_encoding: 'Content-Encoding is not supported.',
    file_not_text: 'The file is no text.',
  }),
  ...coded(416, { range_not_satisfiable: 'The Range lies outside the file.' }),
  ...coded(422, {
    idempotency_mismatch:
      'The Idempotency-Key was used before with another body: repeat that body, or take a new key. Links of this service count by their file.',
  }),
  ...coded(429, {
    rate_limited: 'Too many requests; try again after Retry-After.',
    quota_exceeded:
      'The caller has as many open tasks, open batches or stored bytes as one may have, or the task as many tokens.',
    streams_exceeded:
      'As many streams are open as may be, in all, of the caller or of the address.',
    redelivery_limit_reached:
      'Anonymous tasks have sent this event, or to its host, again as often as they may.',
  }),
  ...coded(431, { headers_too_large: 'The headers are over 16 KiB.' }),
  ...coded(500, {
    internal_error: 'An error of this service; the request_id finds it in the log.',
  }),
  ...coded(503, {
    unavailable: 'A service this one depends on cannot be reached; try again.',
    busy: 'Too much is received, read or sent at once; try again after Retry-After.',
    outcome_unknown: 'The commit was not confirmed; repeat with the same Idempotency-Key.',
    auth_unavailable:
      'The key set of the issuer was never reached, or cannot be read; try again after Retry-After.',
    draining: 'This process is stopping; try again.',
  }),
  ...coded(504, {
    check_timed_out:
      'The archive could not be read in time: the media workers are busy, or it takes them longer. Try again after Retry-After, or publish it, which waits.',
  }),
}

export type ErrorCodeName = keyof typeof ERROR_CODES

/** The status of a code on video routes. */
export const videoStatusOf = (code: ErrorCodeName): number => {
  const { status, videoStatus = status }: ErrorCode = ERROR_CODES[code]
  return videoStatus
}

/** First issue of a request, and the query or body in which it is; some routes name its kind. */
export interface FirstIssue {
  field: string
  isUnwanted?: boolean
  given: unknown
}

/** The error of a response, as far as what a caller reads depends on it. */
export type ErrorFacts = Pick<ApiError, 'code' | 'status' | 'message'> &
  Partial<Pick<ApiError, 'details' | 'issue'>>

export interface ApiErrorOptions {
  /** The catalogue's for the code unless given. */
  status?: number
  /** One sentence for each issue: field, expectation, value. */
  details?: string[]
  issue?: FirstIssue | undefined
  headers?: Record<string, string>
  /** Members beside `error` and `message`, such as `error_type`. */
  extra?: Record<string, string>
  cause?: unknown
}

/** An error that the caller sees. Code, status and message go out as they are; `cause` goes to the log only. */
export class ApiError extends Error {
  override name = 'ApiError'
  readonly code: ErrorCodeName
  readonly status: number
  readonly details: string[] | undefined
  readonly issue: FirstIssue | undefined
  readonly headers: Record<string, string>
  readonly extra: Record<string, string>

  constructor(code: ErrorCodeName, message: string, options: ApiErrorOptions = {}) {
    super(message, { cause: options.cause })
    this.code = code
    this.status = options.status ?? ERROR_CODES[code].status
    this.details = options.details
    this.issue = options.issue
    this.headers = options.headers ?? {}
    this.extra = options.extra ?? {}
  }
}

/** Makes the error of a code, with the catalogue's sentence unless a better one is given. */
export const apiError = (
  code: ErrorCodeName,
  message: string = ERROR_CODES[code].meaning,
  options: ApiErrorOptions = {},
): ApiError => new ApiError(code, message, options)

/** A value as it may stand in a message: JSON without our secrets, cut at 80 characters (code points). */
export const shown = (value: unknown): string => {
  const text = maskCredentials((JSON.stringify(value) ?? 'nothing').slice(0, 400))
  const points = Array.from(text)
  return points.length > 80 ? `${points.slice(0, 79).join('')}…` : text
}

const CANCEL_PATH = /^\/tasks\/[^/]+\/cancel\/?$/
const CANCEL_ADVICE =
  'a task is cancelled below the path of its kind, such as …/image-upscaler/{task_id}/cancel, a video at …/tasks/{task_id}/cancel of the video routes; '

const because = (reason: string | undefined): string =>
  reason === undefined || reason === '' ? '.' : `: ${reason}`

const retryAfter = (seconds: number) => ({ 'retry-after': String(seconds) })

/** Makes an error that passes: the caller may try again. */
const passing = (
  code: ErrorCodeName,
  { seconds, ...options }: ApiErrorOptions & { seconds: number },
): ApiError => apiError(code, undefined, { headers: retryAfter(seconds), ...options })

interface UsedUp {
  name: string
  /** The quota in words: `600 in 60 s`. */
  policy: string
  /** Until it is worth trying again. */
  seconds: number
  headers: Record<string, string>
}

interface ExistingVersion {
  asked: string
  version: string
  status: string
  reason: string
  /** A sentence with what to do. */
  advice: string
}

/** The status of a version in a sentence. */
const wordOf = (status: string): string => VERSION_WORDS[status] ?? status

const VERSION_WORDS: Readonly<Record<string, string>> = {
  NodeVersionStatusActive: 'published',
  NodeVersionStatusPending: 'being checked',
  NodeVersionStatusFlagged: 'flagged',
  NodeVersionStatusBanned: 'banned',
  NodeVersionStatusDeleted: 'deleted',
}

const CREDENTIAL_REJECTED =
  'The credential that was sent is not valid here: it is malformed, unknown, revoked or expired, or of a kind that this route does not take.'

export const errors = {
  validationFailed: (details: string[]) =>
    apiError('validation_failed', details[0] ?? 'The request is not valid.', { details }),
  /** One text for every cause, unless none was sent. */
  unauthorized: (cause?: unknown, message = CREDENTIAL_REJECTED) =>
    apiError('unauthorized', message, { headers: { 'www-authenticate': 'Bearer' }, cause }),
  taskNotFound: (id: string) =>
    apiError(
      'task_not_found',
      `There is no task ${shown(id)} here: it was made with another credential, or another route reads it (GET /tasks/{id} reads all of the caller), or it never was.`,
    ),
  templateAwaited: (name: string) =>
    apiError(
      'template_not_found',
      `The template ${shown(name)} is not there yet: its engine has not responded since it was set up. Send the request again later; \`problems\` of GET /admin/operations say to operators why.`,
    ),
  templateNotFound: (name: string) =>
    apiError(
      'template_not_found',
      `There is no template ${shown(name)}, or not any more; GET /templates lists them, and \`kiln operate templates\` says to operators why a file is none. Tasks that were made with it go on.`,
    ),
  templateNotAllowed: (name: string, owner: string) =>
    apiError(
      'template_not_allowed',
      `The template ${shown(name)} is for some owners alone, and ${shown(owner)} is none of them; GET /templates lists those of the caller.`,
    ),
  apiKeyNotFound: (id: string) =>
    apiError('api_key_not_found', `The caller has no live API key ${shown(id)}.`),
  /** Somebody has uploaded other bytes since the request read the link. */
  fileReplaced: (field: string) => {
    const message = `/${field} names an upload that has just been replaced; send the request again`
    return apiError('url_refused', message, { details: [message] })
  },
  eventNotFound: (id: string, of = 'task') =>
    apiError('event_not_found', `The ${of} has no event ${shown(id)}.`),
  endpointNotFound: (id: string) =>
    apiError(
      'endpoint_not_found',
      `There is no endpoint ${shown(id)} among those of the caller, or of the publisher.`,
    ),
  endpointLimitReached: (max: number) =>
    apiError(
      'endpoint_limit_reached',
      `One caller or publisher has at most ${max} endpoints: delete one first.`,
    ),
  endpointDisabled: (reason: string) =>
    apiError(
      'endpoint_disabled',
      `The endpoint is off (${reason}); switch it on with the status enabled first.`,
    ),
  tooManyTasks: (found: number, max: number) =>
    apiError(
      'too_many_tasks',
      `The filter finds ${found} tasks, and one operation acts on at most ${max}: narrow it by from and to, state or batch_id.`,
    ),
  notDeliverable: () => apiError('not_deliverable'),
  routeNotFound: (path: string) =>
    apiError(
      'not_found',
      `There is no route ${shown(path)}; ${CANCEL_PATH.test(path) ? CANCEL_ADVICE : ''}/docs lists all.`,
    ),
  methodNotAllowed: (method: string, path: string, allow: readonly string[]) =>
    apiError(
      'method_not_allowed',
      `${shown(path)} does not take ${method}; it takes ${allow.join(', ')}.`,
      {
        headers: { allow: allow.join(', ') },
      },
    ),
  cannotCancel: (status: string, isCancelled = false) =>
    apiError(
      'cannot_cancel',
      `The task is ${status}${isCancelled ? ': it is cancelled already' : ' and can no longer be cancelled'}.`,
    ),
  cannotCancelVideo: (state: string, advice = '') =>
    // Clients of video routes know these words.
    apiError('cannot_cancel', `task state is ${state}, can not cancel${advice}`, {
      status: videoStatusOf('cannot_cancel'),
    }),
  insufficientCredits: (credits: number, left: number) =>
    apiError(
      'insufficient_credits',
      `The task costs ${counted(credits, 'credit')}, and the caller has ${left} left: a smaller one may fit (?dry_run=true shows the price), or an operator raises the limit.`,
    ),
  keyCreditsSpent: (credits: number, { used, cap }: { used: number; cap: number }) =>
    apiError(
      'insufficient_credits',
      `The task costs ${counted(credits, 'credit')}, and the API key has ${Math.max(0, cap - used + credits)} left of its cap of ${cap}: make a key with a higher one.`,
    ),
  keyScopeInsufficient: (allowed: readonly string[], scopes: readonly string[], what = 'route') =>
    apiError(
      'key_scope_insufficient',
      allowed.length === 0
        ? `This ${what} takes a key without scopes and cap, or a bearer token.`
        : `This ${what} needs an API key with the scope ${allowed.join(' or ')}, and the key has ${scopes.join(', ')}.`,
    ),
  publisherNotFound: (id: string) =>
    apiError('publisher_not_found', `There is no publisher ${shown(id)}.`),
  /** `publisherId`: the one in the path, whose node it is not, whether there is one of this id or not. */
  nodeNotFound: (id: string, publisherId?: string) =>
    apiError(
      'node_not_found',
      publisherId === undefined
        ? `There is no pack ${shown(id)}.`
        : `The publisher ${shown(publisherId)} has no pack ${shown(id)}.`,
    ),
  versionNotFound: (nodeId: string, version: string) =>
    apiError(
      'version_not_found',
      `The pack ${shown(nodeId)} has no version ${shown(version)}, or it was deleted.`,
    ),
  versionNotInstallable: (
    nodeId: string,
    given?: { version: string; reason?: string | undefined },
  ) =>
    apiError(
      'version_not_installable',
      given === undefined
        ? `The pack ${shown(nodeId)} has no active version.`
        : `The version ${shown(given.version)} of the pack ${shown(nodeId)} is not active${because(given.reason)}`,
    ),
  archiveNotFound: (version: string, reason?: string) =>
    apiError(
      'archive_not_found',
      `There is no archive of ${shown(version)} to be had or looked at${because(reason)}`,
    ),
  hostNodeNotFound: (name: string) =>
    apiError(
      'host_node_not_found',
      `There is no host node ${shown(name)}, or none that was read yet.`,
    ),
  tokenNotFound: (id: string) =>
    apiError('token_not_found', `The publisher has no live personal access token ${shown(id)}.`),
  memberNotFound: (userId: string) =>
    apiError('member_not_found', `The user ${shown(userId)} is no member of the publisher.`),
  userNotFound: (userId: string) =>
    apiError(
      'user_not_found',
      `The user ${shown(userId)} has never signed in: once they have, in the console or by GET /users, they are found by the id that it shows.`,
    ),
  /** `role`: the caller's role; null for a stranger. */
  roleTooLow: (lowest: string, role: string | null) =>
    apiError(
      'forbidden',
      `This needs the role ${lowest}${lowest === 'owner' ? '' : ' or a higher one'} in the publisher, and the caller ${role === null ? 'is no member of it' : `has the role ${role}`}; an owner of it can change that.`,
    ),
  /** One text for every cause: unknown, expired, revoked, another publisher's. */
  invalidPersonalAccessToken: (cause?: unknown) =>
    apiError('invalid_personal_access_token', undefined, { cause }),
  /** Whoever holds a live token may know what it is for. */
  tokenScopeInsufficient: (what: string) =>
    apiError(
      'token_scope_insufficient',
      `The personal access token ${what}; an admin of the publisher can make another one.`,
    ),
  /** Whoever holds it may know what it is for, and may have it by mistake for another credential. */
  taskTokenInsufficient: (taskId: string) =>
    apiError(
      'task_token_insufficient',
      `This token is for one task alone: it reads GET /tasks/${taskId}, GET /tasks/${taskId}/stream and the links in them.`,
    ),
  /** The message has the reason, because it is about a token that the caller has. */
  identityTokenRejected: (reason: string, cause?: unknown) =>
    apiError('identity_token_refused', `The identity token is rejected: ${reason}.`, { cause }),
  trustedPublisherNotFound: (id: string) =>
    apiError('trusted_publisher_not_found', `The pack has no trusted publisher ${shown(id)}.`),
  /** The reason is for members only. */
  publisherBanned: (id: string, reason?: string) =>
    apiError('publisher_banned', `The publisher ${shown(id)} is banned${because(reason)}`),
  nodeBanned: (id: string, reason?: string) =>
    apiError('node_banned', `The pack ${shown(id)} is banned${because(reason)}`),
  /** The reason is for everybody, as it is in the version itself. */
  versionBlocked: (version: string, status: string, reason: string) =>
    apiError(
      'version_blocked',
      `The version ${shown(version)} is ${wordOf(status)} and can be neither installed nor downloaded${because(reason)}`,
    ),
  nodeOwnedByOtherPublisher: (id: string) =>
    apiError(
      'node_owned_by_other_publisher',
      `The pack ${shown(id)} belongs to another publisher: choose another id.`,
    ),
  publisherLimitReached: (max: number) =>
    apiError(
      'publisher_limit_reached',
      `One user may create at most ${max} publishers, and has; an owner of another one can add them as a member.`,
    ),
  publisherIdTaken: (id: string) => {
    const issue = `?username must not be taken, got ${shown(id)}`
    return apiError('publisher_id_unavailable', issue, { details: [issue] })
  },
  publisherExists: (id: string) =>
    apiError('publisher_exists', `The publisher id ${shown(id)} is taken: choose another.`),
  nodeExists: (id: string) =>
    apiError(
      'node_exists',
      `The pack id ${shown(id)} is taken: choose another, or change the pack by PUT if it is yours.`,
    ),
  nodeDeleted: (id: string) =>
    apiError(
      'node_deleted',
      `The pack id ${shown(id)} is that of a deleted pack and stays taken; a platform admin can bring the pack back.`,
    ),
  /** `asked` differs from what exists in its build metadata alone. */
  versionExists: ({ asked, version, status, reason, advice }: ExistingVersion) => {
    const same =
      asked === version
        ? ''
        : ` ${shown(asked)} is the same version, because build metadata (from the + on) does not count.`
    return apiError(
      'version_exists',
      `The version ${shown(version)} exists and is ${wordOf(status)}: ${reason.replace(/\.$/, '')}.${same} ${advice}`,
    )
  },
  archiveExists: (isRejected: boolean) =>
    apiError(
      'archive_exists',
      isRejected
        ? 'The archive that came before was rejected: publish the same version again for a new link, its number is free.'
        : 'The version has another archive already, which was accepted: publish a higher number.',
    ),
  uploadExpired: (of: 'archive' | 'file') =>
    apiError(
      'upload_expired',
      of === 'archive'
        ? 'The link has expired: publish the version again for a new one.'
        : 'The link has expired: POST /customers/storage gives a new one.',
    ),
  uploadClosed: () => apiError('upload_closed'),
  alreadyRegistered: () => apiError('already_registered'),
  lastOwner: () =>
    apiError(
      'last_owner',
      'The last owner of a publisher can be neither removed nor lowered; make another one first.',
    ),
  /** `possible`: what else it can become. `because`: why it cannot, where others of its status can. */
  illegalTransition: (from: string, to: string, possible: readonly string[], because = '') =>
    apiError(
      'illegal_move',
      `What is ${from} cannot become ${to}${because}; it can become ${possible.join(', ') || 'nothing else'}.`,
    ),
  hostNodePreempted: (name: string, nodeId: string) =>
    apiError(
      'host_node_preempted',
      `The pack ${shown(nodeId)} preempts the host node ${shown(name)} already: take the name from it first, or send "force": true to let both preempt it.`,
    ),
  versionNotFlagged: (status: string) =>
    apiError(
      'version_not_flagged',
      `The version is ${wordOf(status)}; only a flagged one is reviewed.`,
    ),
  reviewAlreadyRequested: () => apiError('review_already_requested'),
  reviewNotFound: () => apiError('review_not_found'),
  nothingToRetry: (status: string, reason: string) =>
    apiError(
      'nothing_to_retry',
      `Only checks that could not run or end are tried again, and an extraction that failed; the version is ${wordOf(status)}${because(reason)}`,
    ),
  archiveInvalid: (head: Buffer) =>
    apiError(
      'archive_invalid',
      `The archive must be a zip, which begins with the bytes 504b0304, got ${head.toString('hex') || 'none'}.`,
    ),
  preconditionFailed: () => apiError('precondition_failed'),
  rateLimited: ({ name, policy, seconds, headers }: UsedUp) =>
    apiError(
      'rate_limited',
      `The quota ${name} of ${policy} is used up; try again in ${seconds} s.`,
      { headers: { ...headers, ...retryAfter(seconds) } },
    ),
  checksAtOnce: () =>
    apiError(
      'rate_limited',
      'Two archives of the caller are checked at this moment, and no more at once: try again when one of them has ended.',
      { headers: retryAfter(5) },
    ),
  checkTimedOut: () => passing('check_timed_out', { seconds: 60 }),
  taskQuotaExceeded: (open: number, max: number) =>
    apiError(
      'quota_exceeded',
      `The caller has ${open} open tasks and may have ${max}: another one can be made when enough of them have ended or are cancelled.`,
      { headers: retryAfter(30) },
    ),
  byteQuotaExceeded: (max: number, retentionDays = 30) =>
    apiError(
      'quota_exceeded',
      `The caller may have ${max} bytes stored, and this would be more: DELETE /tasks/{id} and DELETE /customers/storage/{id} remove files at once; else they go ${retentionDays} days after the end of their task, and uploads after a day.`,
      // Days would be true, but clients of video routes wait for no more than this.
      { headers: retryAfter(150) },
    ),
  taskTokenQuotaExceeded: (max: number) =>
    apiError(
      'quota_exceeded',
      `The task has ${max} tokens that have not ended, and may have no more: use one of them, or wait until one has ended.`,
      { headers: retryAfter(60) },
    ),
  tooManyStreams: (max: number, maxOfOne: number) =>
    apiError(
      'streams_exceeded',
      `At max ${max} streams are open at once, and ${maxOfOne} of one caller or address: close one, or read the status instead.`,
      { headers: retryAfter(5) },
    ),
  lastEventInvalid: (id: string, expectation = 'the id of an event of this task') =>
    errors.validationFailed([`Last-Event-ID must be ${expectation}, but is ${shown(id)}.`]),
  eventRedeliveryLimit: (max: number) =>
    apiError(
      'redelivery_limit_reached',
      `An event of an anonymous task is sent again at most ${counted(max, 'time')}.`,
    ),
  hostRedeliveryLimit: (max: number, seconds: number) =>
    apiError(
      'redelivery_limit_reached',
      `Events of anonymous tasks are sent again to one host at most ${max} times an hour; try again in ${seconds} s.`,
      { headers: retryAfter(seconds) },
    ),
  idempotencyInFlight: () =>
    passing('idempotency_in_flight', {
      seconds: 1,
      extra: { error_type: 'idempotency_in_flight' },
    }),
  idempotencyMismatch: () =>
    apiError('idempotency_mismatch', undefined, { extra: { error_type: 'idempotency_mismatch' } }),
  unavailable: (cause?: unknown) => passing('unavailable', { seconds: 2, cause }),
  outcomeUnknown: (cause?: unknown) => passing('outcome_unknown', { seconds: 2, cause }),
  busy: () => passing('busy', { seconds: 2 }),
  draining: () => passing('draining', { seconds: 1 }),
  authUnavailable: (cause?: unknown) => passing('auth_unavailable', { seconds: 5, cause }),
}
