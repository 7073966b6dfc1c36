import { errors } from '@zhisuan/contract/errors'
import type { Kind } from '@zhisuan/contract/kind'
import { migration, type Migrations, type Tables } from '../../platform/db/database.ts'

/** Those that people pay for, with the columns on which it depends what they use; and how they are called. */
const metered = {
  vms: { kind: 'nextstack.vm', columns: 'observed, cpu_cores, memory_bytes, disk_bytes, bp_id, project_id' },
  volumes: { kind: 'nextstack.volume', columns: 'observed, pool, size_bytes, bp_id, project_id' },
  eips: { kind: 'nextstack.eip', columns: 'bandwidth_mbps, bp_id, project_id' },
  vm_snapshots: { kind: 'nextstack.snapshot', columns: 'status, size_bytes, bp_id' },
  volume_snapshots: { kind: 'nextstack.volumeSnapshot', columns: 'status, size_bytes, bp_id, project_id' },
  volume_backups: { kind: 'nextstack.volumeBackup', columns: 'status, file_bytes, bp_id, project_id' },
  images: { kind: 'nextstack.image', columns: 'status, visibility, size_bytes, bp_id' },
} as const satisfies Readonly<Partial<Record<keyof Tables, { readonly kind: Kind; readonly columns: string }>>>

/**
 * What resources use is told to billing by their tables themselves, in the transaction that
 * changes them, so that no change by whatever code can forget to. The meters are those of the
 * contract (bill/meter.ts); `record_usage` is billing's.
 */
export const usageMigrations: Migrations = {
  '20261123_00_51_usage_of_resources': migration(`
    -- What has been made is there, and takes room, until its record goes; processors and memory
    -- only while it runs, GPUs as long as nobody else can have them. What the engine lost is gone.
    create function usage_of(vm vms) returns jsonb language sql stable as $$
      select case
        when vm.observed is null or vm.observed = 'lost' then '{}'
        else jsonb_build_object('vm.disk', vm.disk_bytes)
          || case when vm.observed in ('running', 'paused') then jsonb_build_object('vm.vcpu', vm.cpu_cores, 'vm.memory', vm.memory_bytes) else '{}' end
          || coalesce((select jsonb_object_agg('vm.gpu/' || model, cards) from (select model, count(*) as cards from host_gpus where vm_id = vm.id group by model) as held), '{}')
      end
    $$;
    create function usage_of(volume volumes) returns jsonb language sql stable as $$
      select case when volume.observed is null or volume.observed = 'lost' then '{}' else jsonb_build_object('volume.size/' || volume.pool, volume.size_bytes) end
    $$;
    -- An address is the organisation's from the moment it is allocated, whether it leads anywhere or not.
    create function usage_of(eip eips) returns jsonb language sql stable as $$
      select jsonb_build_object('eip.address', 1) || case when eip.bandwidth_mbps is null then '{}' else jsonb_build_object('eip.bandwidth', eip.bandwidth_mbps) end
    $$;
    create function usage_of(snapshot vm_snapshots) returns jsonb language sql stable as $$
      select case when snapshot.status in ('creating', 'lost') or coalesce(snapshot.size_bytes, 0) = 0 then '{}' else jsonb_build_object('snapshot.size', snapshot.size_bytes) end
    $$;
    create function usage_of(snapshot volume_snapshots) returns jsonb language sql stable as $$
      select case when snapshot.status in ('creating', 'lost') then '{}' else jsonb_build_object('snapshot.size', snapshot.size_bytes) end
    $$;
    create function usage_of(backup volume_backups) returns jsonb language sql stable as $$
      select case when coalesce(backup.file_bytes, 0) = 0 then '{}' else jsonb_build_object('backup.size', backup.file_bytes) end
    $$;
    create function usage_of(image images) returns jsonb language sql stable as $$
      select case when image.visibility = 'private' and image.status in ('active', 'deleting') and coalesce(image.size_bytes, 0) > 0 then jsonb_build_object('image.size', image.size_bytes) else '{}' end
    $$;

    create function tell_usage() returns trigger language plpgsql as $$
    declare
      before jsonb := '{}';
      after jsonb := '{}';
      was jsonb := '{}';
      now_is jsonb := '{}';
    begin
      if tg_op <> 'INSERT' then
        before := usage_of(old);
        was := to_jsonb(old);
      end if;
      if tg_op <> 'DELETE' then
        after := usage_of(new);
        now_is := to_jsonb(new);
      end if;
      -- What belongs to nobody uses nothing.
      if was ->> 'bp_id' is null then before := '{}'; end if;
      if now_is ->> 'bp_id' is null then after := '{}'; end if;
      if before <> after or (after <> '{}' and (was ->> 'bp_id', was ->> 'project_id') is distinct from (now_is ->> 'bp_id', now_is ->> 'project_id'))
        -- Bills call it by the name of its last event, also once it uses nothing any more.
        or (tg_op = 'UPDATE' and was ->> 'name' <> now_is ->> 'name' and now_is ->> 'bp_id' is not null and exists (select from usage_events where resource_id = (now_is ->> 'id')::uuid)) then
        perform record_usage(
          tg_argv[0],
          coalesce(now_is ->> 'id', was ->> 'id')::uuid,
          coalesce(now_is ->> 'name', was ->> 'name'),
          coalesce(now_is ->> 'bp_id', was ->> 'bp_id')::uuid,
          (case when now_is ->> 'bp_id' is null then was ->> 'project_id' else now_is ->> 'project_id' end)::uuid,
          after
        );
      end if;
      return null;
    end $$;
    ${Object.entries(metered)
      .map(
        ([table, { kind, columns }]) =>
          `create trigger ${table}_tell_usage after insert or delete or update of ${columns}, name on ${table} for each row execute function tell_usage('${kind}');`,
      )
      .join('\n')}

    -- Cards are given to instances after these were recorded.
    create function tell_usage_of_gpus() returns trigger language plpgsql as $$
    begin
      perform record_usage('nextstack.vm', id, name, bp_id, project_id, usage_of(vms)) from vms where id in (old.vm_id, new.vm_id) and usage_of(vms) <> '{}';
      return null;
    end $$;
    create trigger host_gpus_tell_usage after update of vm_id on host_gpus
      for each row when (old.vm_id is distinct from new.vm_id) execute function tell_usage_of_gpus();
  `),
  // What goes through an address that its host cannot limit is not what is paid for.
  '20261128_26_bandwidth_that_is_given': migration(`
    alter table eips add column limits_bandwidth boolean not null default true;
    create or replace function usage_of(eip eips) returns jsonb language sql stable as $$
      select jsonb_build_object('eip.address', 1)
        || case when eip.bandwidth_mbps is null or not eip.limits_bandwidth then '{}' else jsonb_build_object('eip.bandwidth', eip.bandwidth_mbps) end
    $$;
    drop trigger eips_tell_usage on eips;
    create trigger eips_tell_usage after insert or delete or update of ${metered.eips.columns}, limits_bandwidth, name on eips
      for each row execute function tell_usage('${metered.eips.kind}');
    update eips set limits_bandwidth = false where error_text = '${errors.bandwidthUnsupported.text}';
    update eip_pools set limits_bandwidth = false where cloud_id in (select cloud_id from eips where not limits_bandwidth);
  `),
}
