/// A script of Python that reads GeoPackages with GDAL, by pyogrio, and with Fieldpack.
enum GDALComparison {
  /// Its arguments are our library for Arrow and the folder of a config, its input what
  /// `fieldpack info --json` prints of that.
  ///
  /// Of each store it prints a line: the layers with their numbers of features, or what differs.
  static let script = #"""
    import ctypes, json, os, sys, warnings
    import pyarrow as pa, pyogrio
    from osgeo_utils.samples import validate_gpkg

    # pyogrio says that it drops m where it tells the type of a layer; the rows have it.
    warnings.simplefilter("ignore")
    fieldpack = ctypes.CDLL(sys.argv[1])

    TYPES = {
        "BOOLEAN": ("OFTInteger", "OFSTBoolean"), "SMALLINT": ("OFTInteger", "OFSTInt16"),
        "MEDIUMINT": ("OFTInteger", "OFSTNone"), "INTEGER": ("OFTInteger64", "OFSTNone"),
        "FLOAT": ("OFTReal", "OFSTFloat32"), "REAL": ("OFTReal", "OFSTNone"),
        "TEXT": ("OFTString", "OFSTNone"), "JSON": ("OFTString", "OFSTJSON"),
        "BLOB": ("OFTBinary", "OFSTNone"), "DATE": ("OFTDate", "OFSTNone"),
        "DATETIME": ("OFTDateTime", "OFSTNone"),
    }

    def arrow(path, layer):
        stream, error = ctypes.create_string_buffer(40), ctypes.c_char_p()
        code = fieldpack.fieldpack_arrow_open(
            path.encode(), layer.encode(), None, stream, ctypes.byref(error))
        assert code == 0, error.value
        return pa.RecordBatchReader._import_from_c(ctypes.addressof(stream)).read_all()

    def our_columns(layer):
        for column in layer["columns"]:
            base, _, width = column["type"].partition("(")
            constraint = column["constraint"]
            yield (
                column["column"], *TYPES[base], column["is_nullable"], column["is_unique"],
                width.rstrip(")") or None, column["default"],
                constraint["name"] if constraint else None)

    def their_columns(info, schema):
        for name, kind, subtype in zip(info["fields"], info["ogr_types"], info["ogr_subtypes"]):
            field = schema.field(name)
            facts = {k.decode(): v.decode() for k, v in (field.metadata or {}).items()}
            yield (
                name, kind, subtype, field.nullable, facts.get("GDAL:OGR:unique") == "true",
                facts.get("GDAL:OGR:width"), facts.get("GDAL:OGR:default"),
                facts.get("GDAL:OGR:domain_name"))

    def same(what, ours, theirs):
        assert ours == theirs, f"{what}: we read {ours}, GDAL {theirs}"

    def plain(column):
        column = column.combine_chunks()
        if isinstance(column, pa.ExtensionArray):
            column = column.storage
        return column.cast(pa.int64()) if pa.types.is_timestamp(column.type) else column

    def compare(path, layer):
        name, geometry = layer["layer"], layer["geometry"]
        info = pyogrio.read_info(path, layer=name, force_feature_count=True, force_total_bounds=True)
        _, rows = pyogrio.read_arrow(path, layer=name, return_fids=True)
        same("id column", layer["id_column"], info["fid_column"])
        same("columns", list(our_columns(layer)), list(their_columns(info, rows.schema)))
        same("features", layer["count"], info["features"])
        if geometry:
            same("geometry", geometry["column"], info["geometry_name"])
            # pyogrio tells no Z of columns that hold any type.
            kind = "Unknown"
            if geometry["geometry_type"] != "GEOMETRY":
                kind = geometry["geometry_type"] + (" Z" if geometry["z"] != "prohibited" else "")
            same("type", kind.upper(), info["geometry_type"].upper())
            same("system", geometry["srs"], info["crs"])
            if layer["envelope"]:
                same("envelope", layer["envelope"], list(info["total_bounds"]))
        ours = arrow(path, name)
        same("columns of rows", ours.column_names, rows.column_names)
        for column in ours.column_names:
            left, right = plain(ours.column(column)), plain(rows.column(column))
            same(f"values of {column}", left.to_pylist(), right.cast(left.type).to_pylist())
        return f"{name} {layer['count']}"

    for store in json.load(sys.stdin)["stores"]:
        path, layers = os.path.join(sys.argv[2], store["uri"]), store["layers"]
        try:
            # GDAL lists the tables of links among the layers.
            links = {relation["mapping"] for layer in layers for relation in layer["relations"]}
            theirs = [name for name, _ in pyogrio.list_layers(path) if name not in links]
            ours = [layer["layer"] for layer in layers]
            same("layers", sorted(ours), sorted(theirs))
            found = ", ".join(compare(path, layer) for layer in layers)
            faults = validate_gpkg.check(path, abort_at_first_error=False, extra_checks=True)
            print(found if not faults else f"validate_gpkg: {faults}")
        except Exception as error:
            print(f"{type(error).__name__}: {error}")
    """#
}
