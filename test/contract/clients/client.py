"""Uses the generated client as a caller would: it makes and reads each kind of task, publishes a version and reads it."""

import base64
import io
import os
import time
from urllib.parse import parse_qs, urlsplit

from kiln_client import AuthenticatedClient
from kiln_client import models as m
from kiln_client.api.image_tasks import (
    get_proxy_imgvendor_v1_ai_image_relight_task_id as read_relight,
    get_proxy_imgvendor_v1_ai_image_upscaler_precision_v2_task_id as read_precision,
    get_proxy_imgvendor_v1_ai_image_upscaler_task_id as read_upscale,
    get_proxy_imgvendor_v1_ai_skin_enhancer_task_id as read_skin,
    post_proxy_imgvendor_v1_ai_image_relight as relight,
    post_proxy_imgvendor_v1_ai_image_upscaler as upscale,
    post_proxy_imgvendor_v1_ai_image_upscaler_precision_v2 as precision,
    post_proxy_imgvendor_v1_ai_skin_enhancer_creative as creative,
    post_proxy_imgvendor_v1_ai_skin_enhancer_faithful as faithful,
    post_proxy_imgvendor_v1_ai_skin_enhancer_flexible as flexible,
)
from kiln_client.api.nodes import get_nodes_node_id as read_node
from kiln_client.api.publishers import post_publishers as create_publisher
from kiln_client.api.publishers import post_publishers_publisher_id_tokens as create_token
from kiln_client.api.uploads import put_uploads_id as upload
from kiln_client.api.versions import get_nodes_node_id_versions_version as read_version
from kiln_client.api.versions import post_publishers_publisher_id_nodes_node_id_versions as publish_version
from kiln_client.api.video_tasks import get_proxy_vidvendor_tasks_task_id_creations as read_video
from kiln_client.api.video_tasks import post_proxy_vidvendor_extend as extend
from kiln_client.api.video_tasks import post_proxy_vidvendor_img2video as img2video
from kiln_client.api.video_tasks import post_proxy_vidvendor_start_end2video as start_end2video
from kiln_client.api.video_tasks import post_proxy_vidvendor_text2video as text2video
from kiln_client.types import File

client = AuthenticatedClient(base_url=os.environ["KILN_URL"], token=os.environ["KILN_TOKEN"])
image = os.environ["KILN_IMAGE"]


def must(response):
    """The response, which is an Error where the request was rejected."""
    assert not isinstance(response, m.Error) and response is not None, response
    return response


def until(read, is_over):
    for _ in range(600):
        value = must(read())
        if is_over(value):
            return value
        time.sleep(0.1)
    raise AssertionError("it does not end")


def make_image_tasks():
    settings = m.RelightBodyAdvancedSettingsType0(whites=60)
    kinds = [
        (relight, m.RelightBody(image=image, advanced_settings=settings), read_relight),
        (upscale, m.UpscaleBody(image=image), read_upscale),
        (precision, m.UpscalePrecisionBody(image=image), read_precision),
        (flexible, m.SkinFlexibleBody(image=image), read_skin),
        (creative, m.SkinCreativeBody(image=image), read_skin),
        (faithful, m.SkinFaithfulBody(image=image), read_skin),
    ]
    made = [(must(create.sync(client=client, body=body)).data, read) for create, body, read in kinds]
    for task, read in made:
        ended = until(
            lambda: read.sync(task.task_id, client=client, prefer="wait=20"),
            lambda response: response.data.status in (m.ImageTaskStatus.COMPLETED, m.ImageTaskStatus.FAILED),
        ).data
        assert ended.status == m.ImageTaskStatus.COMPLETED and len(ended.generated) == 1, ended


def end_video(task):
    ended = until(
        lambda: read_video.sync(task.task_id, client=client, prefer="wait=20"),
        lambda video: video.state in (m.VideoTaskState.SUCCESS, m.VideoTaskState.FAILED),
    )
    assert ended.state == m.VideoTaskState.SUCCESS, ended
    return ended.creations[0]


def make_video_tasks():
    drawn = must(text2video.sync(client=client, body=m.TextToVideoBody(prompt="sea", duration=4)))
    others = [
        must(img2video.sync(client=client, body=m.ImageToVideoBody(images=[image], duration=1))),
        must(start_end2video.sync(client=client, body=m.StartEndToVideoBody(images=[image, image], duration=1))),
    ]
    source = end_video(drawn)
    for task in others:
        end_video(task)
    body = m.ExtendBody(
        model=m.ExtendBodyModel.VIDEOQ2_TURBO, video_creation_id=str(source.id), video_url=source.url, duration=1
    )
    end_video(must(extend.sync(client=client, body=body)))


def publish():
    must(create_publisher.sync(client=client, body=m.NewPublisher(id="python")))
    made = must(create_token.sync("python", client=client, body=m.NewPersonalAccessToken(name="contract")))
    body = m.PublishBody(
        node=m.NodeUpdate(tags=["contract"]),
        node_version=m.NewNodeVersion(version="1.0.0"),
        personal_access_token=made.token,
    )
    published = must(publish_version.sync("python", "python-node", client=client, body=body))
    link = urlsplit(published.signed_url)
    query = parse_qs(link.query)
    pack = File(payload=io.BytesIO(base64.b64decode(os.environ["KILN_PACK"])))
    signed = {"expires": query["expires"][0], "max_": query["max"][0], "signature": query["signature"][0]}
    stored = upload.sync_detailed(link.path.split("/")[-1], client=client, body=pack, **signed)
    assert stored.status_code == 200, stored
    version = until(
        lambda: read_version.sync("python-node", "1.0.0", client=client, prefer="wait=20"),
        lambda version: version.status != m.NodeVersionStatus.NODEVERSIONSTATUSPENDING,
    )
    assert version.status == m.NodeVersionStatus.NODEVERSIONSTATUSACTIVE, version
    node = must(read_node.sync("python-node", client=client))
    assert node.latest_version.version == "1.0.0", node


make_image_tasks()
make_video_tasks()
publish()
