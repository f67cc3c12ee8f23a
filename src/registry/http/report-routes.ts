import { Type } from 'typebox'

import { withinDeadline } from '../../platform/db/client.ts'
import { closeReports, listOwnReports, listReports, putReport } from '../db/report.ts'
import { unitOfWork } from '../../platform/db/unit-of-work.ts'
import { totalPages } from '../../platform/domain/schema-fields.ts'
import {
  ClosedReports,
  NewReport,
  Report,
  ReportDecision,
  ReportPage,
  ReportQuery,
  Reports,
} from '../domain/report.ts'
import { apiError, shown } from '../../platform/domain/errors.ts'
import { isUuid } from '../../platform/domain/uuid.ts'
import { getCaller, requirePlatformAdmin } from '../../platform/http/access/caller.ts'
import { SMALL_BODY } from '../../platform/json-body/body-limits.ts'
import type { CommitDeps } from '../../platform/http/deps.ts'
import { created, defineRoute, ok } from '../../platform/http/route.ts'
import type { Route } from '../../platform/http/route.ts'
import { getNodeAccess } from './access.ts'
import { makeAudit } from '../../identity/http/access/audit.ts'
import { NODE_ERRORS, OfNode, WRITE_ERRORS, queryOf } from './paths.ts'

const REPORTS_PATH = '/nodes/:nodeId/reports'
const OfReport = Type.Object({ reportId: Type.String({ description: 'Id of the report.' }) })
const REPORT = {
  id: '3f1d9f5e-7a53-4f0b-9d3c-2b1a0c9e8d7f',
  node_id: 'image-tools',
  reason: 'malware',
  text: 'It sends the names of my files away.',
  created_at: '2026-01-31T12:00:00.000Z',
} as const

/** The routes by which users report nodes to platform admins, and learn what has come of it. */
export const makeReportRoutes = (deps: CommitDeps): Route[] => [
  defineRoute({
    tag: 'Packs',
    auth: 'required',
    method: 'post',
    path: REPORTS_PATH,
    summary: 'Report a pack to the platform admins',
    description:
      'One report is open at a time for each user and pack: another one takes the place of an open one.',
    params: OfNode,
    body: {
      ...SMALL_BODY,
      schema: NewReport,
      emptyIsAbsent: 'optional',
      examples: { malware: { reason: REPORT.reason, text: REPORT.text } },
    },
    responses: created('The report.', Report, { example: REPORT }),
    errors: [...NODE_ERRORS, ...WRITE_ERRORS],
    handler: async (request) => {
      const caller = getCaller(request)
      const { id: nodeId } = await getNodeAccess(deps, {
        ...request.params,
        access: 'read',
        caller,
      })
      const report = { nodeId, userId: caller.principal, ...request.body }
      return await unitOfWork(deps, async (sql) => {
        const response = { status: 201, body: await putReport(sql, report) }
        return await request.saveIdempotentResponse(sql, response)
      })
    },
  }),
  defineRoute({
    tag: 'Packs',
    auth: 'required',
    method: 'get',
    path: `${REPORTS_PATH}/mine`,
    summary: 'Read your reports about a pack, and what has come of them',
    params: OfNode,
    read: 'private',
    responses: ok('The reports.', Reports, { example: { reports: [REPORT] } }),
    errors: NODE_ERRORS,
    handler: async ({ params, caller: given }) => {
      const caller = getCaller({ caller: given })
      const { id: nodeId } = await getNodeAccess(deps, { ...params, access: 'read', caller })
      const asked = { nodeId, userId: caller.principal }
      const reports = await withinDeadline(deps.sql, listOwnReports(deps.sql, asked))
      return { status: 200, body: { reports } }
    },
  }),
  defineRoute({
    tag: 'Registry admin',
    auth: 'required',
    method: 'get',
    path: '/admin/reports',
    summary: 'List reports about packs',
    description: 'Those that are open, oldest first, or all about one pack.',
    ...queryOf(ReportQuery),
    read: 'private',
    responses: ok('A page of reports.', ReportPage, {
      example: {
        reports: [{ ...REPORT, reported_by: 'alice', open_of_node: 1 }],
        page: 1,
        pageSize: 10,
        total: 1,
        totalPages: 1,
      },
    }),
    errors: ['forbidden'],
    handler: async ({ query, caller }) => {
      requirePlatformAdmin(getCaller({ caller }))
      const { nodeId, page, pageSize } = query
      const asked = { nodeId, page, pageSize }
      const { reports, total } = await withinDeadline(deps.sql, listReports(deps.sql, asked))
      const pages = { page, pageSize, total, totalPages: totalPages(total, pageSize) }
      return { status: 200, body: { reports, ...pages } }
    },
  }),
  defineRoute({
    tag: 'Registry admin',
    auth: 'required',
    method: 'post',
    path: '/admin/reports/:reportId/close',
    summary: 'Close a report with a decision',
    description:
      'A ban or another change is made apart; the author of the report reads the decision.',
    params: OfReport,
    body: {
      ...SMALL_BODY,
      schema: ReportDecision,
      examples: { banned: { decision: 'The pack is banned.', all: true } },
    },
    responses: ok('How many were closed.', ClosedReports, { example: { closed: 1 } }),
    errors: ['report_not_found', ...WRITE_ERRORS],
    handler: async (request) => {
      const audit = makeAudit(request)
      const { reportId: id } = request.params
      const { decision, all = false } = request.body
      return await unitOfWork(deps, async (sql) => {
        const closed = isUuid(id)
          ? await closeReports(sql, { id, decision, all, audit })
          : undefined
        if (closed === undefined)
          throw apiError('report_not_found', `There is no open report ${shown(id)}.`)
        const response = { status: 200, body: { closed } }
        return await request.saveIdempotentResponse(sql, response)
      })
    },
  }),
]
