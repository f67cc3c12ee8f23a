-- Files of models that an instance of ComfyUI has, each below its folder, as a worker has read them; null: none has yet.
alter table instance add column model_files text[];
