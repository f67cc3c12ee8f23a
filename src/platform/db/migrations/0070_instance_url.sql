-- The address of an instance of ComfyUI, so that its name is not given to another one while placements name it.

-- null: no worker has found it in COMFYUI_URLS yet
alter table instance add column url text;
