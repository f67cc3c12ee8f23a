import type { SchemaNames } from '../openapi/schemas.ts'
import * as endpoint from '../../domain/event/endpoint.ts'
import * as event from '../../domain/event/event.ts'

/** Names for clients of the schemas of events and endpoints. */
export const EVENT_NAMES: SchemaNames = {
  DeliveryAttempt: event.Attempt,
  EndpointEvent: endpoint.EndpointEvent,
  EndpointSecret: endpoint.EndpointSecret,
  EndpointStatus: endpoint.EndpointStatus,
  EndpointDisabledReason: endpoint.DisabledReason,
  WebhookSecrets: event.WebhookSecrets,
}
