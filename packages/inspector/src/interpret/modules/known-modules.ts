import { words } from '../../words.ts'

/** CPython 3.11's `sys.stdlib_module_names` without private names, and what later releases added. */
const STANDARD_LIBRARY = `abc aifc annotationlib antigravity argparse array ast asynchat asyncio asyncore atexit audioop
base64 bdb binascii bisect builtins bz2 cProfile calendar cgi cgitb chunk cmath cmd code codecs codeop collections
colorsys compileall compression concurrent configparser contextlib contextvars copy copyreg crypt csv ctypes curses
dataclasses datetime dbm decimal difflib dis distutils doctest email encodings ensurepip enum errno faulthandler fcntl
filecmp fileinput fnmatch fractions ftplib functools gc genericpath getopt getpass gettext glob graphlib grp gzip hashlib
heapq hmac html http idlelib imaplib imghdr imp importlib inspect io ipaddress itertools json keyword lib2to3 linecache
locale logging lzma mailbox mailcap marshal math mimetypes mmap modulefinder msilib msvcrt multiprocessing netrc nis
nntplib nt ntpath nturl2path numbers opcode operator optparse os ossaudiodev pathlib pdb pickle pickletools pipes pkgutil
platform plistlib poplib posix posixpath pprint profile pstats pty pwd py_compile pyclbr pydoc pydoc_data pyexpat queue
quopri random re readline reprlib resource rlcompleter runpy sched secrets select selectors shelve shlex shutil signal
site smtpd smtplib sndhdr socket socketserver spwd sqlite3 sre_compile sre_constants sre_parse ssl stat statistics string
stringprep struct subprocess sunau symtable sys sysconfig syslog tabnanny tarfile telnetlib tempfile termios textwrap
this threading time timeit tkinter token tokenize tomllib trace traceback tracemalloc tty turtle turtledemo types typing
unicodedata unittest urllib uu uuid venv warnings wave weakref webbrowser winreg winsound wsgiref xdrlib xml xmlrpc
zipapp zipfile zipimport zlib zoneinfo __future__ _thread _io _collections_abc`

/** Top-level modules of the host's own folder, which stands first on its path. */
const HOST = `nodes folder_paths comfy comfy_extras comfy_api comfy_api_nodes comfy_execution comfy_config execution server
main app api_server utils latent_preview node_helpers cuda_malloc fix_torch middleware model_filemanager protocol
comfyui_version new_updater hook_breaker_ac10a0 alembic_db custom_nodes`

/** Libraries that packs install, by the names they import them under. */
const THIRD_PARTY = `torch torchvision torchaudio torchsde torchdiffeq torchmetrics numpy scipy pandas sklearn skimage cv2 PIL
matplotlib seaborn plotly einops transformers diffusers accelerate safetensors huggingface_hub tokenizers sentencepiece
peft bitsandbytes timm kornia kornia_rs xformers triton flash_attn sageattention onnx onnxruntime tensorrt tensorflow
keras jax flax insightface facexlib gfpgan basicsr realesrgan ultralytics mediapipe segment_anything sam2 rembg
pymatting controlnet_aux clip open_clip clip_interrogator lpips pytorch_lightning lightning omegaconf hydra yaml requests
urllib3 httpx aiohttp aiofiles websocket websockets flask fastapi uvicorn starlette pydantic pydantic_settings typer click
rich tqdm colorama termcolor loguru psutil GPUtil pynvml py3nvml gputil imageio imageio_ffmpeg moviepy av decord ffmpeg
librosa soundfile pydub sounddevice torchcrepe audiocraft demucs whisper faster_whisper openai anthropic google cohere
ollama llama_cpp langchain tiktoken spacy nltk jieba pypinyin langdetect deep_translator googletrans trimesh open3d
pytorch3d nvdiffrast pyrender pygltflib plyfile pymeshlab xatlas numba cupy dill cloudpickle joblib networkx sympy
shapely cairosvg svgwrite svglib reportlab freetype fonttools fontTools qrcode pyzbar piexif exifread rawpy tifffile
colour webcolors blend_modes pixeloe pilgram color_matcher pytesseract easyocr paddle paddleocr docx pptx
openpyxl PyPDF2 fitz markdown bs4 lxml selenium playwright boto3 botocore azure paramiko git gitdb github dotenv toml
tomli tomlkit ruamel simpleeval asteval numexpr jsonschema orjson ujson simplejson msgpack regex ftfy emoji wcwidth
packaging typing_extensions pip setuptools pkg_resources wheel six attr attrs cachetools filelock fsspec gdown wget send2trash
pyperclip pyautogui keyboard mouse mss pynput watchdog schedule redis pymongo sqlalchemy alembic zmq grpc
google_auth_oauthlib replicate fal_client gradio gradio_client streamlit tensorboard wandb comet_ml mlflow optuna
dynamicprompts compel lark pyparsing jinja2 Jinja2 markupsafe nest_asyncio anyio trio gguf spandrel
spandrel_extra_arches torchscale fairscale deepspeed apex vllm optimum auto_gptq awq exllamav2 hqq quanto
rotary_embedding_torch pykalman filterpy norfair supervision groundingdino addict yapf mmcv mmdet mmpose mmengine
detectron2 dlib face_recognition facenet_pytorch imagehash perlin_noise noise opensimplex pywt mido pretty_midi
stable_audio_tools descript_audio_codec dac snac vocos encodec bigvgan phonemizer inflect unidecode cn2an
pyloudnorm resampy webrtcvad noisereduce matchering pedalboard wordcloud imgaug albumentations zhipuai dashscope
modelscope oss2 qcloud_cos volcengine serpapi duckduckgo_search wikipedia feedparser yt_dlp pytube bpy`

/** The first segments of module names that are never looked up in a pack. */
export const KNOWN_MODULES = {
  standardLibrary: new Set(words(STANDARD_LIBRARY)),
  host: new Set(words(HOST)),
  thirdParty: new Set(words(THIRD_PARTY)),
}
