-- Why a task that has begun does not go on, for operators: what each instance of ComfyUI lacks; empty where one is busy.

alter table task add column waits_for text[];
