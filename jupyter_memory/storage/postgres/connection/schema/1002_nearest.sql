-- An HNSW index for the vectors of each model, made with the model, while it is empty: a writer may not make one, and
-- nobody waits for it to be built. It holds halves of the values; the cosines that count come from the whole ones.

-- Make the index of every model that lacks it, and drop those of models that have gone. It runs with the rights of who
-- made the tables, and may be called by everybody who may add a model.
create function jupyter_memory.index_vectors() returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  model record;
  gone name;
  types name;
begin
  if not has_table_privilege(session_user, 'jupyter_memory.models', 'insert') then
    raise insufficient_privilege;
  end if;
  select n.nspname into types from pg_extension e join pg_namespace n on n.oid = e.extnamespace where e.extname = 'vector';
  -- The most that such an index takes: more are compared one by one.
  for model in select id, dimensions from jupyter_memory.models where dimensions <= 4000 loop
    if to_regclass(format('jupyter_memory.vectors_nearest_%s', model.id)) is null then
      execute format(
        'create index vectors_nearest_%1$s on jupyter_memory.vectors using hnsw'
        ' ((embedding::%2$I.halfvec(%3$s)) %2$I.halfvec_cosine_ops) where model = %1$s',
        model.id, types, model.dimensions
      );
    end if;
  end loop;
  for gone in
    select c.relname from pg_index i join pg_class c on c.oid = i.indexrelid
    where i.indrelid = 'jupyter_memory.vectors'::regclass and c.relname like 'vectors\_nearest\_%'
      and not exists (select 1 from jupyter_memory.models m where c.relname = format('vectors_nearest_%s', m.id))
  loop
    execute format('drop index jupyter_memory.%I', gone);
  end loop;
end
$$;

select jupyter_memory.index_vectors();
