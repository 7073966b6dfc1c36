import { tellsChanges } from '../../platform/changes.ts'
import { migration, type Migrations } from '../../platform/db/database.ts'

export const marketMigrations: Migrations = {
  '20261128_94_market': migration(`
    create table market_providers (
      id uuid primary key,
      -- Null: the platform itself.
      bp_id uuid,
      name text not null,
      contact text not null,
      description text not null,
      status text not null default 'pending' check (status in ('pending', 'verified', 'disabled')),
      reason text,
      verified_at timestamptz,
      created_by uuid,
      created_by_name text not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      constraint market_providers_bound unique nulls not distinct (bp_id)
    );
    create unique index market_providers_name on market_providers (name);
    ${tellsChanges('market_providers', 'market.provider')}

    -- Of nodes of which somebody had the cards tested or put into the market.
    create table market_nodes (
      id uuid primary key references edges on delete cascade,
      bp_id uuid,
      name text not null,
      listed boolean not null default false,
      tested_at timestamptz,
      test_passed boolean not null default false,
      checks jsonb not null default '[]',
      constraint market_nodes_tested check (not listed or test_passed)
    );
    ${tellsChanges('market_nodes', 'market.node')}

    create table market_cards (
      id uuid primary key,
      edge_id uuid not null references edges on delete cascade,
      uuid text not null,
      "index" integer not null,
      model text not null,
      memory_bytes bigint not null,
      driver text not null,
      cuda text,
      health text not null default 'healthy' check (health in ('healthy', 'sick')),
      trouble text check (trouble in ('xid', 'ecc', 'hot', 'lost', 'driver')),
      trouble_detail text not null default '',
      health_since timestamptz not null default now(),
      -- Faults that the driver told of before were seen to.
      cleared_at timestamptz,
      seen_at timestamptz not null default now(),
      constraint market_cards_place unique (edge_id, uuid),
      constraint market_cards_trouble check ((health = 'sick') = (trouble is not null))
    );
    create index market_cards_model on market_cards (model);

    -- Who has a card: one at most, until it is given back.
    create table market_holds (
      id uuid primary key,
      card_id uuid not null references market_cards on delete cascade,
      rental_id uuid not null,
      container_id uuid not null,
      held_at timestamptz not null default now(),
      released_at timestamptz
    );
    create unique index market_holds_card on market_holds (card_id) where released_at is null;
    create index market_holds_rental on market_holds (rental_id);
    create index market_holds_open on market_holds (container_id) where released_at is null;

    -- Each card with all that decides whether it can be rented.
    create view market_stock as
      select
        cards.id, cards.edge_id, edges.name as edge_name, edges.bp_id, cards.uuid, cards."index", cards.model, cards.memory_bytes, cards.driver, cards.cuda,
        cards.health, cards.trouble, cards.trouble_detail, cards.health_since, cards.seen_at,
        providers.id as provider_id, providers.name as provider_name, regions.id as region_id, regions.name as region_name,
        coalesce(nodes.listed, false) as listed,
        exists (select from market_holds where market_holds.card_id = cards.id and released_at is null) as held,
        edges.status = 'online' and not edges.docker_away and edges.activation = 'active' as reachable,
        coalesce(nodes.listed, false) and coalesce(providers.status, '') = 'verified' and cards.health = 'healthy'
          and edges.status = 'online' and not edges.docker_away and edges.activation = 'active' as rentable
      from market_cards as cards
      join edges on edges.id = cards.edge_id
      left join market_nodes as nodes on nodes.id = edges.id
      left join market_providers as providers on providers.bp_id is not distinct from edges.bp_id
      left join sites on sites.id = edges.site_id
      left join regions on regions.id = sites.region_id;

    create table market_offers (
      id uuid primary key,
      -- Of the provider.
      bp_id uuid,
      provider_id uuid not null references market_providers,
      -- Null: whichever node of the provider has such cards.
      edge_id uuid,
      mode text not null check (mode in ('onDemand')),
      card_model text not null,
      most_cards integer not null check (most_cards between 1 and 16),
      -- Thousandths.
      milli_cpus_per_card integer not null check (milli_cpus_per_card > 0),
      memory_bytes_per_card bigint not null,
      disk_bytes_per_card bigint not null,
      -- Minor units for an hour.
      card_price numeric(38, 0) not null check (card_price >= 0),
      disk_price numeric(38, 0) not null check (disk_price >= 0),
      stopped_disk_price numeric(38, 0) not null check (stopped_disk_price >= 0),
      status text not null default 'proposed' check (status in ('proposed', 'listed', 'paused', 'rejected', 'ended')),
      reason text,
      decided_at timestamptz,
      created_by uuid,
      created_by_name text not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create index market_offers_listed on market_offers (card_model) where status = 'listed';
    create index market_offers_provider on market_offers (provider_id, created_at);
    ${tellsChanges('market_offers', 'market.offer')}
    create function tell_card() returns trigger language plpgsql as $$
    begin
      perform pg_notify('zhisuan', 'change market.card ' || coalesce((select bp_id::text from edges where id = new.edge_id), '-'));
      return null;
    end $$;
    create trigger market_cards_tell_health after update of health, trouble on market_cards for each row
      when (old.health <> new.health or old.trouble is distinct from new.trouble) execute function tell_card();
  `),
  '20261128_97_rentals': migration(`
    create table market_rentals (
      id uuid primary key,
      bp_id uuid not null,
      project_id uuid,
      name text not null,
      offer_id uuid not null references market_offers,
      -- What it became: of the offer that was chosen, or of another that costs no more.
      provider_id uuid not null references market_providers,
      edge_id uuid,
      container_id uuid,
      "count" integer not null check ("count" between 1 and 16),
      disk_bytes bigint not null,
      -- Sealed: variables of the environment often are passwords.
      wish text not null,
      image text not null,
      alternatives boolean not null,
      status text not null default 'placing' check (status in ('placing', 'running', 'stopping', 'stopped', 'starting', 'releasing', 'released', 'failed')),
      fault text check (fault in ('host', 'card')),
      stop_reason text check (stop_reason in ('person', 'spend', 'end', 'idle', 'ended', 'arrears')),
      error_text text,
      attempts jsonb not null default '[]',
      -- Cards that it has, or had last: what its lines say.
      card_ids uuid[] not null default '{}',
      -- Minor units: until a moment, and for an hour since.
      charged numeric(38, 0) not null default 0,
      charged_until timestamptz not null default now(),
      hourly numeric(38, 0) not null default 0,
      spend_limit numeric(38, 0),
      ends_at timestamptz,
      idle_minutes integer check (idle_minutes > 0),
      idle_since timestamptz,
      release_at timestamptz,
      running_at timestamptz,
      stopped_at timestamptz,
      released_at timestamptz,
      created_by uuid,
      created_by_name text not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create index market_rentals_bp on market_rentals (bp_id, created_at);
    create index market_rentals_offer on market_rentals (offer_id, created_at);
    create index market_rentals_open on market_rentals (status) where status not in ('released', 'failed');
    ${tellsChanges('market_rentals', 'market.rental')}
    alter table market_holds add constraint market_holds_of foreign key (rental_id) references market_rentals;

    -- The meters are those of the contract (bill/meter.ts). While its host or a card of it is at fault nothing is used.
    create function usage_of(rental market_rentals) returns jsonb language sql stable as $$
      select case
        when rental.fault is not null or rental.running_at is null then '{}'
        when rental.status = 'running' then jsonb_build_object('market.card/' || rental.offer_id, rental."count", 'market.disk/' || rental.offer_id, rental.disk_bytes)
        when rental.status in ('stopping', 'stopped', 'starting') then jsonb_build_object('market.stoppedDisk/' || rental.offer_id, rental.disk_bytes)
        else '{}' end
    $$;
    create function tell_rental_usage() returns trigger language plpgsql as $$
    declare
      before jsonb := case when tg_op = 'INSERT' then '{}' else usage_of(old) end;
      after jsonb := usage_of(new);
      moment timestamptz := clock_timestamp();
    begin
      if before = after and (tg_op = 'INSERT' or new.name = old.name) then return null; end if;
      -- A host that is away was given up after some seconds: those were not there either.
      if tg_op = 'UPDATE' and new.fault = 'host' and old.fault is null then
        moment := greatest(moment - interval '15 seconds', (select max(at) from usage_events where resource_id = new.id));
      end if;
      insert into usage_events (id, resource_type, resource_id, resource_name, bp_id, project_id, at, usage, attributes)
      values (gen_random_uuid(), 'market.rental', new.id, new.name, new.bp_id, new.project_id, moment, after, jsonb_build_object(
        'provider_id', new.provider_id, 'offer_id', new.offer_id, 'edge_id', new.edge_id,
        'cards', (select coalesce(jsonb_agg(jsonb_build_object('id', id, 'uuid', uuid, 'model', model) order by "index"), '[]') from market_cards where id = any(new.card_ids))));
      return null;
    end $$;
    create trigger market_rentals_tell_usage after insert or update on market_rentals for each row execute function tell_rental_usage();

    -- When servers last were there to see how machines are.
    create table market_clock (id boolean primary key default true check (id), seen_at timestamptz not null default now());
    insert into market_clock default values;
    -- Of the time while none was there nothing is charged.
    create function forgive_absence(since timestamptz) returns void language sql as $$
      insert into usage_events (id, resource_type, resource_id, resource_name, bp_id, project_id, at, usage, attributes)
      select gen_random_uuid(), 'market.rental', rental.id, rental.name, rental.bp_id, rental.project_id, piece.at, piece.usage, last.attributes
      from market_rentals as rental
      cross join lateral (select attributes, at, usage from usage_events where resource_id = rental.id order by at desc, revision desc limit 1) as last
      cross join lateral (values (greatest(since, last.at), '{}'::jsonb), (clock_timestamp(), last.usage)) as piece (at, usage)
      where rental.status not in ('released', 'failed') and last.usage <> '{}'
    $$;
  `),
  '20261128_98_market_waits': migration(`
    create table market_waits (
      id uuid primary key,
      bp_id uuid not null,
      offer_id uuid not null references market_offers,
      "count" integer not null check ("count" between 1 and 16),
      ends_at timestamptz not null,
      created_by uuid,
      created_by_name text not null,
      created_at timestamptz not null default now(),
      constraint market_waits_once unique (bp_id, offer_id, "count")
    );
    ${tellsChanges('market_waits', 'market.wait')}
  `),
  // The key by which people's clients know the door, sealed.
  '20261128_99_market_door': migration('create table market_door (one boolean primary key check (one), sealed text not null)'),
  // By which browsers came into machines: once each.
  '20261129_91_market_tickets': migration('create table market_tickets (id uuid primary key, spent_at timestamptz not null default now())'),
  '20261129_90_market_faults': migration(`
    -- Since when something of it is at fault: a machine whose cards are sick is stopped after some minutes.
    alter table market_rentals add column fault_at timestamptz;
    update market_rentals set fault_at = now() where fault is not null;
    alter table market_rentals add constraint market_rentals_fault_at check ((fault is null) = (fault_at is null));
    alter table market_rentals drop constraint market_rentals_stop_reason_check;
    alter table market_rentals add constraint market_rentals_stop_reason_check
      check (stop_reason in ('person', 'spend', 'end', 'idle', 'ended', 'arrears', 'fault'));
    create index market_cards_uuid on market_cards (uuid);
    -- One card that two nodes tell of is that one's which told of it first, and of the other once the first is silent.
    alter table market_cards add column elsewhere boolean not null default false;
    -- Joined to what is held and not asked for each card: ten thousand are looked through each time somebody rents one.
    create or replace view market_stock as
      select
        cards.id, cards.edge_id, edges.name as edge_name, edges.bp_id, cards.uuid, cards."index", cards.model, cards.memory_bytes, cards.driver, cards.cuda,
        cards.health, cards.trouble, cards.trouble_detail, cards.health_since, cards.seen_at,
        providers.id as provider_id, providers.name as provider_name, regions.id as region_id, regions.name as region_name,
        coalesce(nodes.listed, false) as listed,
        holds.id is not null as held,
        edges.status = 'online' and not edges.docker_away and edges.activation = 'active' as reachable,
        coalesce(nodes.listed, false) and coalesce(providers.status, '') = 'verified' and cards.health = 'healthy' and not cards.elsewhere
          and edges.status = 'online' and not edges.docker_away and edges.activation = 'active' as rentable,
        cards.elsewhere
      from market_cards as cards
      join edges on edges.id = cards.edge_id
      left join market_holds as holds on holds.card_id = cards.id and holds.released_at is null
      left join market_nodes as nodes on nodes.id = edges.id
      left join market_providers as providers on providers.bp_id is not distinct from edges.bp_id
      left join sites on sites.id = edges.site_id
      left join regions on regions.id = sites.region_id;
  `),
  '20261130_20_market_room': migration(`
    -- How many cards of each kind a node has free: counted once when that changes, and not by each who rents among ten thousand.
    create table market_room (
      edge_id uuid not null references edges on delete cascade,
      model text not null,
      cards integer not null check (cards > 0),
      primary key (edge_id, model)
    );
    create index market_room_least on market_room (model, cards, edge_id);
    create function count_room(edge uuid) returns void language plpgsql as $$
    begin
      -- One after the other: each counts what the one before it has left.
      perform pg_advisory_xact_lock(hashtextextended(edge::text, 38));
      delete from market_room where edge_id = edge;
      insert into market_room (edge_id, model, cards)
      select cards.edge_id, cards.model, count(*)
      from market_cards as cards left join market_holds as holds on holds.card_id = cards.id and holds.released_at is null
      where cards.edge_id = edge and holds.id is null and cards.health = 'healthy' and not cards.elsewhere
      group by cards.edge_id, cards.model;
    end $$;
    create function count_room_of_card() returns trigger language plpgsql as $$
    begin
      perform count_room(coalesce(new.edge_id, old.edge_id));
      return null;
    end $$;
    create function count_room_of_hold() returns trigger language plpgsql as $$
    begin
      perform count_room(edge_id) from market_cards where id = coalesce(new.card_id, old.card_id);
      return null;
    end $$;
    -- As the transaction ends: nobody waits for a count while something else is done.
    create constraint trigger market_cards_counted after insert or delete on market_cards
      deferrable initially deferred for each row execute function count_room_of_card();
    create constraint trigger market_cards_counted_anew after update of health, elsewhere, model on market_cards
      deferrable initially deferred for each row
      when (old.health <> new.health or old.elsewhere <> new.elsewhere or old.model <> new.model) execute function count_room_of_card();
    create constraint trigger market_holds_counted after insert or delete or update of released_at on market_holds
      deferrable initially deferred for each row execute function count_room_of_hold();
    select count_room(edge_id) from (select distinct edge_id from market_cards) as nodes;
  `),
  '20261130_23_market_modes': migration(`
    alter table market_offers drop constraint market_offers_mode_check;
    alter table market_offers add constraint market_offers_mode_check check (mode in ('onDemand', 'interruptible'));
    alter table market_offers add column day_price numeric(38, 0) check (day_price >= 0);
    alter table market_offers add column week_price numeric(38, 0) check (week_price >= 0);
    alter table market_offers add column month_price numeric(38, 0) check (month_price >= 0);
    alter table market_offers add column grace_seconds integer check (grace_seconds > 0);
    alter table market_offers add constraint market_offers_grace check ((mode = 'interruptible') = (grace_seconds is not null));

    alter table market_rentals drop constraint market_rentals_stop_reason_check;
    alter table market_rentals add constraint market_rentals_stop_reason_check
      check (stop_reason in ('person', 'spend', 'end', 'idle', 'ended', 'arrears', 'fault', 'interrupted'));
    -- Of what is paid in advance: as prepaid_spans say, so that its stop and its usage know.
    alter table market_rentals add column prepaid_until timestamptz;
    alter table market_rentals add column interrupt_at timestamptz;
    alter table market_rentals add column waits_until timestamptz;

    -- Cards that somebody has now and somebody else has next.
    create table market_claims (
      card_id uuid primary key references market_cards on delete cascade,
      rental_id uuid not null references market_rentals,
      claimed_at timestamptz not null default now()
    );
    create index market_claims_rental on market_claims (rental_id);

    -- What is claimed is nobody else's.
    create or replace view market_stock as
      select
        cards.id, cards.edge_id, edges.name as edge_name, edges.bp_id, cards.uuid, cards."index", cards.model, cards.memory_bytes, cards.driver, cards.cuda,
        cards.health, cards.trouble, cards.trouble_detail, cards.health_since, cards.seen_at,
        providers.id as provider_id, providers.name as provider_name, regions.id as region_id, regions.name as region_name,
        coalesce(nodes.listed, false) as listed,
        holds.id is not null or claims.card_id is not null as held,
        edges.status = 'online' and not edges.docker_away and edges.activation = 'active' as reachable,
        coalesce(nodes.listed, false) and coalesce(providers.status, '') = 'verified' and cards.health = 'healthy' and not cards.elsewhere
          and edges.status = 'online' and not edges.docker_away and edges.activation = 'active' as rentable,
        cards.elsewhere
      from market_cards as cards
      join edges on edges.id = cards.edge_id
      left join market_holds as holds on holds.card_id = cards.id and holds.released_at is null
      left join market_claims as claims on claims.card_id = cards.id
      left join market_nodes as nodes on nodes.id = edges.id
      left join market_providers as providers on providers.bp_id is not distinct from edges.bp_id
      left join sites on sites.id = edges.site_id
      left join regions on regions.id = sites.region_id;
    create or replace function count_room(edge uuid) returns void language plpgsql as $$
    begin
      -- One after the other: each counts what the one before it has left.
      perform pg_advisory_xact_lock(hashtextextended(edge::text, 38));
      delete from market_room where edge_id = edge;
      insert into market_room (edge_id, model, cards)
      select cards.edge_id, cards.model, count(*)
      from market_cards as cards
      left join market_holds as holds on holds.card_id = cards.id and holds.released_at is null
      left join market_claims as claims on claims.card_id = cards.id
      where cards.edge_id = edge and holds.id is null and claims.card_id is null and cards.health = 'healthy' and not cards.elsewhere
      group by cards.edge_id, cards.model;
    end $$;
    create constraint trigger market_claims_counted after insert or delete on market_claims
      deferrable initially deferred for each row execute function count_room_of_hold();

    -- What is paid in advance keeps its cards while it is stopped, and so uses them.
    create or replace function usage_of(rental market_rentals) returns jsonb language sql stable as $$
      select case
        when rental.fault is not null or rental.running_at is null then '{}'
        when rental.status = 'running' or (rental.prepaid_until is not null and rental.status in ('stopping', 'stopped', 'starting'))
          then jsonb_build_object('market.card/' || rental.offer_id, rental."count", 'market.disk/' || rental.offer_id, rental.disk_bytes)
        when rental.status in ('stopping', 'stopped', 'starting') then jsonb_build_object('market.stoppedDisk/' || rental.offer_id, rental.disk_bytes)
        else '{}' end
    $$;
  `),
  '20261130_24_market_history': migration(`
    -- What was to be had, by offer and hour: an offer's price never changes, so what was listed says what it cost.
    create table market_history (
      offer_id uuid not null references market_offers,
      hour timestamptz not null check (hour = date_trunc('hour', hour, 'UTC')),
      samples integer not null check (samples > 0),
      -- Sums of the samples.
      total bigint not null,
      free bigint not null,
      primary key (offer_id, hour)
    );
    create index market_history_hour on market_history (hour);
  `),
  '20261201_60_market_idle': migration(`
    -- When a server said last that it has nothing to do: another that its node does not tell takes nothing of it back.
    alter table market_rentals add column idle_told_at timestamptz;
    update market_rentals set idle_told_at = now() where idle_since is not null;
  `),
}
