"""The client of Kiln: image and video tasks, uploads, webhooks and the registry."""

from ._async.client import AsyncKiln as AsyncKiln
from ._sync.client import Kiln as Kiln
from .arguments import ArgumentError as ArgumentError
from .errors import ConflictError as ConflictError
from .errors import ForbiddenError as ForbiddenError
from .errors import InvalidRequestError as InvalidRequestError
from .errors import KilnError as KilnError
from .errors import NotFoundError as NotFoundError
from .errors import RateLimitedError as RateLimitedError
from .errors import ServiceError as ServiceError
from .errors import UnauthorizedError as UnauthorizedError
from .pack import PackError as PackError
from .pack import Verdict as Verdict
from .tasks import Replay as Replay
from .tasks import Task as Task
from .webhooks import WebhookError as WebhookError
from .webhooks import WebhookEvent as WebhookEvent
from .webhooks import verify_webhook as verify_webhook
