import type { SchemaNames } from '../../platform/http/openapi/schemas.ts'
import * as endpoint from '../domain/endpoint.ts'
import * as event from '../domain/event.ts'

export const EVENT_NAMES: SchemaNames = {
  DeliveryAttempt: event.Attempt,
  EndpointEvent: endpoint.EndpointEvent,
  EndpointSecret: endpoint.EndpointSecret,
  EndpointStatus: endpoint.EndpointStatus,
  EndpointDisabledReason: endpoint.DisabledReason,
  WebhookSecrets: event.WebhookSecrets,
}
