@testable import FieldpackCheck
@testable import FieldpackGeoPackage

extension CheckDamage {
  static let indexes: [CheckDamage] = [
    CheckDamage(
      name: "R-tree registered for no geometry",
      sql: """
        INSERT INTO gpkg_extensions VALUES ('sites', 'name', 'gpkg_rtree_index', 'x', \
        'write-only')
        """,
      findings: [
        "error gpkg-75 sites.name: an R-tree is registered for it, which is no geometry column"
      ]),
    CheckDamage(
      name: "R-tree not registered",
      sql: """
        DELETE FROM gpkg_extensions WHERE table_name = 'sites' AND extension_name = \
        'gpkg_rtree_index'
        """,
      findings: [
        "error gpkg-76 sites.geom: its R-tree is not registered in gpkg_extensions +"
      ],
      repairs: [
        "sites: gpkg_rtree_index registered in gpkg_extensions"
      ]),
    CheckDamage(
      name: "R-tree read-write",
      sql: """
        UPDATE gpkg_extensions SET scope = 'read-write' WHERE table_name = 'sites' AND \
        extension_name = 'gpkg_rtree_index'
        """,
      findings: [
        "error gpkg-76 sites.geom: its R-tree is not write-only +"
      ],
      repairs: [
        "sites: gpkg_rtree_index registered in gpkg_extensions"
      ]),
    CheckDamage(
      name: "R-tree missing",
      sql: "DROP TABLE rtree_sites_geom",
      findings: [
        "error gpkg-77 sites.geom: the registered R-tree rtree_sites_geom is missing +"
      ],
      repairs: [
        "sites: R-tree of geom packed anew, 5 entries"
      ]),
    CheckDamage(
      name: "trigger missing",
      sql: "DROP TRIGGER rtree_sites_geom_update6",
      findings: [
        "error gpkg-77 sites.geom: the trigger rtree_sites_geom_update6 is missing +"
      ],
      repairs: [
        "sites: the triggers of its R-tree made anew"
      ]),
    CheckDamage(
      name: "all triggers missing",
      sql: "DELETE FROM sqlite_master WHERE type = 'trigger' AND name LIKE 'rtree_sites%'",
      findings: [
        "error gpkg-77 sites.geom: no triggers keep its R-tree true +"
      ],
      repairs: [
        "sites: the triggers of its R-tree made anew"
      ]),
    CheckDamage(
      name: "trigger of other text",
      sql: """
        DROP TRIGGER rtree_sites_geom_delete; CREATE TRIGGER rtree_sites_geom_delete AFTER DELETE \
        ON sites WHEN OLD.geom NOT NULL BEGIN DELETE FROM rtree_sites_geom WHERE id = OLD.fid + 1; \
        END
        """,
      findings: [
        "error gpkg-77 sites.geom: the trigger rtree_sites_geom_delete is not as the standard "
          + "has it +",
        "warning upkeep-triggers sites: the trigger 'rtree_sites_geom_delete' deletes from "
          + "'rtree_sites_geom'; it is not known, so that "
          + "changes of the table are refused where it may not run",
      ],
      repairs: [
        "sites: the triggers of its R-tree made anew"
      ]),
    CheckDamage(
      name: "typo of 1.4.0",
      sql: """
        DROP TRIGGER rtree_sites_geom_update6; CREATE TRIGGER \
        rtree_sites_geom_update6_old_geom_notnull AFTER UPDATE OF geom ON sites WHEN OLD.fid = \
        NEW.fid AND (NEW.geom NOTNULL AND NOT ST_IsEmpty(NEW.geom)) AND (OLD.geom NOTNULL AND NOT \
        ST_IsEmpty(OLD.geom)) BEGIN UPDATE sites SET minx = ST_MinX(NEW.geom), maxx = \
        ST_MaxX(NEW.geom), miny = ST_MinY(NEW.geom), maxy = ST_MaxY(NEW.geom) WHERE id = NEW.fid; \
        END
        """,
      findings: [
        "error gpkg-77 sites.geom: the trigger rtree_sites_geom_update6 is not as the standard "
          + "has it +",
        "note upkeep-triggers sites: the trigger 'rtree_sites_geom_update6_old_geom_notnull' "
          + "changes 'sites'; it is not known, so that "
          + "changes of the table are refused where it may not run",
      ],
      repairs: [
        "sites: the triggers of its R-tree made anew"
      ]),
    CheckDamage(
      name: "triggers of 1.3 in 1.4", version: .v13,
      sql: "PRAGMA user_version = 10400",
      findings: [
        "error gpkg-77 sites.geom: the trigger rtree_sites_geom_update6 is missing +",
        "error gpkg-77 sites.geom: the trigger rtree_sites_geom_update7 is missing +",
        "error gpkg-77 sites.geom: the trigger rtree_sites_geom_update5 is missing +",
        "error gpkg-77 areas.geom: the trigger rtree_areas_geom_update6 is missing +",
        "error gpkg-77 areas.geom: the trigger rtree_areas_geom_update7 is missing +",
        "error gpkg-77 areas.geom: the trigger rtree_areas_geom_update5 is missing +",
      ],
      repairs: [
        "areas: the triggers of its R-tree made anew",
        "sites: the triggers of its R-tree made anew",
      ]),
    CheckDamage(
      name: "triggers of 1.4 in 1.3",
      sql: "PRAGMA user_version = 10300",
      findings: [
        "note gpkg-77 sites.geom: its R-tree has the triggers of 1.4, as that version recommends",
        "note gpkg-77 areas.geom: its R-tree has the triggers of 1.4, as that version recommends",
      ]),
    CheckDamage(
      name: "faulty update3 of 1.2.0", version: .v12,
      sql: faultyUpdate3,
      findings: [
        "warning gpkg-77 sites.geom: the trigger rtree_sites_geom_update3 is the faulty one of "
          + "1.0 to 1.2.0 +"
      ],
      repairs: [
        "sites: the triggers of its R-tree made anew"
      ]),
    CheckDamage(
      name: "faulty update3 in 1.3", version: .v13,
      sql: faultyUpdate3,
      findings: [
        "error gpkg-77 sites.geom: the trigger rtree_sites_geom_update3 is not as the standard "
          + "has it +"
      ],
      repairs: [
        "sites: the triggers of its R-tree made anew"
      ]),
    CheckDamage(
      name: "all triggers but one missing",
      sql: """
        DELETE FROM sqlite_master WHERE type = 'trigger' AND name LIKE 'rtree_sites%' \
        AND name NOT LIKE '%_insert'
        """,
      findings: [
        "error gpkg-77 sites.geom: the trigger rtree_sites_geom_update2 is missing +",
        "error gpkg-77 sites.geom: the trigger rtree_sites_geom_update4 is missing +",
        "error gpkg-77 sites.geom: the trigger rtree_sites_geom_delete is missing +",
        "error gpkg-77 sites.geom: the trigger rtree_sites_geom_update6 is missing +",
        "error gpkg-77 sites.geom: the trigger rtree_sites_geom_update7 is missing +",
        "error gpkg-77 sites.geom: the trigger rtree_sites_geom_update5 is missing +",
      ],
      repairs: [
        "sites: the triggers of its R-tree made anew"
      ]),
  ]

  /// The trigger as 1.0 to 1.2.0 have it.
  private static let faultyUpdate3 = """
    DROP TRIGGER rtree_sites_geom_update3; CREATE TRIGGER "rtree_sites_geom_update3" AFTER \
    UPDATE OF "geom" ON "sites" WHEN OLD."fid" != NEW."fid" AND (NEW."geom" NOTNULL AND NOT \
    ST_IsEmpty(NEW."geom")) BEGIN DELETE FROM "rtree_sites_geom" WHERE id = OLD."fid"; INSERT \
    OR REPLACE INTO "rtree_sites_geom" VALUES (NEW."fid", ST_MinX(NEW."geom"), \
    ST_MaxX(NEW."geom"), ST_MinY(NEW."geom"), ST_MaxY(NEW."geom")); END
    """
}
