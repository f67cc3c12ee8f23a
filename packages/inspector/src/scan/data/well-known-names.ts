import { words } from '../../words.ts'

/**
 * Projects that packs of image, video, audio and language nodes require, as PEP 503 normalises names: what a misspelt
 * name would be mistaken for. None is reported itself, however near it is to another.
 */
export const WELL_KNOWN_NAMES: ReadonlySet<string> = new Set(
  words(`
  absl-py accelerate addict aiofiles aiohttp aiosignal aiosqlite albumentations alembic altair annotated-types
  anthropic antlr4-python3-runtime anyio appdirs argon2-cffi argostranslate asgiref assemblyai asttokens
  async-timeout attrs audioread auto-gptq autoawq autofaiss azure-core azure-identity azure-storage-blob babel
  backoff basicsr beautifulsoup4 bitsandbytes black bleach blend-modes boto3 botocore bottleneck bottle bs4
  cachetools cattrs certifi cffi chardet charset-normalizer chromadb clean-fid click clip-anytorch
  clip-interrogator cloudpickle cmake cohere color-matcher colorama colorlog colour-science
  comfy-cli comfyui-frontend-package compel configparser controlnet-aux contourpy cryptography cssselect ctranslate2
  cupy-cuda11x cupy-cuda12x curl-cffi cycler cython dashscope dataclasses-json datasets decorator decord
  deepdiff deepface deepspeed deep-translator defusedxml demucs deprecated depyf diffusers dill
  dirtyjson discord-py diskcache distro django dlib dnspython docker docstring-parser docutils docx2txt
  dynamicprompts easydict easyocr ebooklib edge-tts editdistance einops einx elevenlabs emoji encodec
  espeakng-loader evalidate evaluate eventlet executing ezc3d facenet-pytorch facexlib fairscale fairseq faiss-cpu
  fal-client fastapi faster-whisper fastjsonschema fastrlock ffmpeg-python ffmpy filelock filetype filterpy fire flake8
  flash-attn flask flatbuffers flax fonttools freetype-py frozenlist fsspec ftfy funasr fuzzywuzzy fvcore gast
  gcsfs gdown gevent gfpgan gguf gitpython google-api-core google-api-python-client google-auth
  google-cloud-aiplatform google-cloud-storage google-genai google-generativeai googletrans gradio gradio-client gradient
  greenlet groq grpcio gunicorn h5py hf-transfer hf-xet hpsv2 html2text httpcore httptools httpx huggingface-hub
  humanfriendly humanize hydra-core hyperpyyaml icecream idna igraph imageio imageio-ffmpeg imagehash image-reward
  imagesize imgaug imutils inflect insightface invisible-watermark iopath ipython jax jaxlib jieba jinja2 jmespath
  joblib json-repair jsonlines json5 jsonpatch jsonpath-ng jsonschema jupyter k-diffusion kaleido kaggle keras
  kiwisolver kokoro kornia kornia-rs langchain langchain-community langchain-core langchain-openai langdetect langid
  lark latexcodec lazy-loader librosa lightgbm lightning lion-pytorch litellm litelama llama-cpp-python
  llama-index llvmlite lmdb loguru lpips lxml mako manifold3d mapbox-earcut markdown markdown-it-py markupsafe
  marshmallow matplotlib matrix-client mecab-python3 mediapipe mistralai ml-dtypes mlflow mmcv mmdet mmengine mmpose
  modal modelscope moderngl moviepy mpmath msgpack mtcnn multidict munch mypy natsort ndindex networkx nibabel ninja
  nltk noise noisereduce notebook nudenet num2words numba numexpr numpy numpy-stl nunchaku nvidia-ml-py oauthlib ollama
  omegaconf onnx onnxruntime onnxruntime-directml onnxruntime-gpu onnxsim openai openai-clip openai-whisper
  open-clip-torch opencc opencolorio opencv-contrib-python opencv-contrib-python-headless opencv-python
  opencv-python-headless openexr openpyxl opensimplex open3d openvino opt-einsum optax optimum orjson packaging
  paddleocr paddlepaddle palettable pandas pandoc paramiko pathspec pathtools pdf2image pdfplumber peewee peft
  pexpect phonemizer piexif pilgram pillow pillow-heif pillow-avif-plugin pinecone-client piper-tts
  pixeloe platformdirs playsound playwright plotly pluggy plyfile polars poetry pooch portalocker positional-encodings
  pre-commit pretty-midi prettytable progressbar2 promptlayer prompt-toolkit proglog protobuf psd-tools psutil
  psycopg2-binary py-cpuinfo pyarrow pyaudio pybind11 pycairo pycocotools pycollada pycryptodome pycryptodomex
  pydantic pydantic-core pydantic-settings pydub pyfiglet pygame pygit2 pygithub pyglet pygltflib
  pygments pyinstaller pyjwt pylint pymatting pymeshlab pymongo pymysql pymupdf pynput pynvml pyopengl pyopenssl
  pyparsing pypdf2 pyperclip pypinyin pyqt5 pyquaternion pyrender pyrsistent pyserial pystache pytesseract pytest
  pytest-asyncio python-dateutil python-docx python-dotenv python-magic python-multipart python-pptx
  python-slugify python-socketio pythreejs pytorch-fid pytorch-lightning pytorch-metric-learning pytorch-msssim
  pytorch-optimizer pytube pytz pyvista pywavelets pyworld pyyaml pyzbar pyzmq qdrant-client qrcode qtpy
  qwen-vl-utils rank-bm25 rapidfuzz rasterio rawpy ray realesrgan redis regex rembg reportlab replicate requests
  requests-toolbelt resampy resemblyzer resize-right retinaface rich roboflow rotary-embedding-torch rpds-py ruff runwayml
  s3fs s3transfer sacrebleu safetensors sageattention scenedetect schedulefree scikit-build scikit-image
  scikit-learn scikit-video scipy seaborn segment-anything selenium semver sentencepiece sentence-transformers sentry-sdk
  setproctitle setuptools shapely shellingham shortuuid simpleeval simplejson simple-lama-inpainting
  sklearn slack-sdk smmap snakeviz sniffio snowballstemmer somajo soundcard soundfile soupsieve soxr soynlp spaces spacy
  spandrel spandrel-extra-arches speechrecognition sphinx sqlalchemy sqlmodel srt stable-audio-tools stability-sdk
  stanza starlette statsmodels streamlit supervision surrealist svgpathtools svglib svgwrite sympy tabulate taming-transformers
  tenacity tensorboard tensorboardx tensorflow tensorflow-hub tensorrt termcolor textblob texttable
  thefuzz threadpoolctl tifffile tiktoken timm tinycss2 tokenizers toml tomli tomlkit toolz torch
  torchao torchaudio torchdiffeq torchmetrics torchscale torchsde torchvision tornado tqdm transformers
  transparent-background tree-sitter trimesh triton triton-windows trl ttkbootstrap twine typer typing-extensions tzdata
  tzlocal ujson ultralytics ultralytics-thop umap-learn unidecode unidic-lite unstructured uritemplate
  urllib3 uvicorn uvloop validators vector-quantize-pytorch vertexai vllm voluptuous vtracer wand wandb wasabi watchdog watchfiles
  wcwidth webcolors webdataset webrtcvad websocket-client websockets weasyprint werkzeug wget
  wheel whisperx whoosh wikipedia word2number wordcloud wrapt xatlas xformers xgboost xlrd xlsxwriter xmltodict xxhash
  yacs yapf yarl yfinance yolov5 youtube-dl yt-dlp zeroconf zhconv zhipuai zstandard
  `),
)

/** Projects that exist beside a well-known one of nearly the same name, and are meant as they are spelt. */
export const ALIKE: ReadonlySet<string> = new Set(
  words(`
    aiofile aredis bpython bunch einop jsons opencv orjsonl piglet psutils pyaml pymupdfb torchx websocket whisper`),
)
