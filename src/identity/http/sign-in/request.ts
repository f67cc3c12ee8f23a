import express from 'express'
import type { Request, RequestHandler, Response } from 'express'
import type { Provider } from 'oidc-provider'

import { readAddress } from '../../../platform/adapters/network-of.ts'
import type { Audit } from '../../../platform/db/audit-log.ts'
import { toStorable } from '../../../platform/db/storable-text.ts'
import { apiError } from '../../../platform/domain/errors.ts'

/** The provider of now: it is made again with each key. */
export type State = { provider: Provider }

/** A body that no page of ours sends is the sender's error. */
const rejecting =
  (read: RequestHandler): RequestHandler =>
  (request, response, next) =>
    void read(request, response, (error: unknown) =>
      next(error && apiError('body_too_large', 'The body must be a small form or JSON object.')),
    )

/** Reads a form; a page has no more than a password. */
export const FORM = rejecting(express.urlencoded({ extended: false, limit: '8kb' }))

/** Reads what a passkey has signed. */
export const JSON_BODY = rejecting(express.json({ limit: '64kb' }))

/** Text of a field of a form. */
export const fieldOf = ({ body }: Request, name: string): string => {
  const value: unknown = Object(body)[name]
  return typeof value === 'string' ? toStorable(value.slice(0, 1024)) : ''
}

/** Names who changes an account on a page, for the audit log. */
export const auditBy = (actor: string, request: Request, response: Response): Audit => ({
  actor,
  requestId: String(response.getHeader('x-request-id')),
  address: readAddress(request.ip),
  credential: 'session',
})

export const send = (response: Response, status: number, page: string): void => {
  response.status(status).type('html').send(page)
}
