import { S3Client, S3ServiceException } from '@aws-sdk/client-s3'

import { OutboundError } from '../outbound/error.ts'
import type { ProxyRules } from '../outbound/proxy.ts'
import { makeTrustedAgents } from '../outbound/trusted.ts'
import { StorageError } from './storage.ts'

interface S3Response extends ErrorOptions {
  code: string
  /** Status of the response; undefined when there was none. */
  status?: number | undefined
}

/** Asked to come later. */
const TOO_MANY = 429

/** A request that the server rejected, or did not respond to. Its message holds nothing that was signed or sent. */
export class S3Error extends Error {
  override name = 'S3Error'
  /** As the server, or the system, calls it. */
  readonly code: string
  readonly status: number | undefined
  /** See `isOutage`. */
  readonly isOutage: boolean

  constructor(operation: string, message: string, { code, status, ...options }: S3Response) {
    super(`S3 ${operation}: ${[status, code, message].filter(Boolean).join(' ')}`, options)
    this.code = code
    this.status = status
    this.isOutage = status === undefined || status === TOO_MANY || status >= 500
  }
}

export interface S3Options {
  /** Address of the server; absent: the address of AWS in the region. */
  endpoint?: string | undefined
  region: string
  bucket: string
  /** Begins every key, without a slash at its end; empty for none. */
  prefix: string
  /** The bucket stands in the path, not in the host name. */
  pathStyle: boolean
  /** Without them the SDK looks where it does: environment, shared files, the role of the machine. */
  credentials?: { accessKeyId: string; secretAccessKey: string } | undefined
  proxy?: ProxyRules | undefined
  /** Milliseconds until the head of a response. */
  responseMs?: number
}

const CONNECT_MS = 3000
/** Until the head of a response: one part goes out in it, at 170 kB/s or faster, or a list is made. */
const RESPONSE_MS = 30_000
/** A reader holds a connection for as long as it reads, so there are as many as an api lets in, and more. */
const AGENT = { keepAlive: true, maxSockets: 5000 }

/**
 * Makes a client. Bodies are buffers, so that each request can be repeated, and each is signed with its SHA-256: every
 * server rejects a body that arrived otherwise. The SDK's own checksums come only where an operation asks for one: many
 * servers do not take them.
 */
export const makeS3Client = (options: S3Options): S3Client =>
  new S3Client({
    region: options.region,
    forcePathStyle: options.pathStyle,
    ...(options.endpoint !== undefined && { endpoint: options.endpoint }),
    ...(options.credentials && { credentials: options.credentials }),
    maxAttempts: 3,
    // It would cost a connection for each part.
    expectContinueHeader: false,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: CONNECT_MS,
      requestTimeout: options.responseMs ?? RESPONSE_MS,
      throwOnRequestTimeout: true,
      // A socket also stands still while its reader does. `readBody` counts only the time that it waits.
      socketTimeout: 0,
      ...(options.proxy
        ? makeTrustedAgents(options.proxy, AGENT)
        : { httpAgent: AGENT, httpsAgent: AGENT }),
    },
  })

/** Makes an S3Fault of what an operation throws, which would show headers and signatures to a log; for `catch`. */
export const hide =
  (operation: string) =>
  (error: unknown): never => {
    if (error instanceof StorageError || error instanceof S3Error) throw error
    if (!(error instanceof Error) || isOfFile(error)) throw error
    const isResponse = error instanceof S3ServiceException
    throw new S3Error(operation, error.message, {
      code: 'code' in error && !isResponse ? String(error.code) : error.name,
      status: isResponse ? error.$metadata.httpStatusCode : undefined,
      ...(error instanceof OutboundError && { cause: error.cause }),
    })
  }

/** True for errors of files, false for errors of connections. */
const isOfFile = (error: Error): boolean => 'syscall' in error && 'path' in error

/** The server's words for "no such key". The response to a HEAD has no body to say what is missing. */
const MISSING = ['NoSuchKey', 'NotFound']

export const isMissing = (error: unknown): boolean =>
  error instanceof S3Error && MISSING.includes(error.code)

const KEYS = 'correct S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY, or what the SDK finds without them'
const REGION = 'correct S3_REGION and S3_ENDPOINT: the bucket is elsewhere'
const RIGHTS = 'give the key the rights that docs/operations/scale.md lists'

const ADVICE: Record<string, string> = {
  NoSuchBucket: 'make the bucket, or correct S3_BUCKET',
  InvalidAccessKeyId: KEYS,
  SignatureDoesNotMatch: KEYS,
  InvalidToken: KEYS,
  ExpiredToken: KEYS,
  AccessDenied: RIGHTS,
  CredentialsProviderError: KEYS,
  PermanentRedirect: REGION,
  AuthorizationHeaderMalformed: REGION,
  RequestTimeTooSkewed: 'let NTP set the clock of this machine',
}

/** Words of some servers alone stand behind these. */
const REJECTIONS = [301, 401, 403, 404, 405]

/** Returns what an operator does about an error that stays until then; undefined for one that may pass. */
export const adviseS3 = (error: unknown): string | undefined => {
  if (!(error instanceof S3Error)) return undefined
  const isRejection = REJECTIONS.includes(error.status ?? 0)
  return (
    ADVICE[error.code] ?? (isRejection ? 'correct the settings that begin with S3_' : undefined)
  )
}
