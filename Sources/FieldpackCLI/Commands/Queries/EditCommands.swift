import Fieldpack
import FieldpackCore
import FieldpackFormats

extension FieldpackTool {
  static let editFamily = "Read, change, copy and divide layers; tiles of maps."

  static var editCommands: [Command] {
    [
      Command(
        "get", abstract: "Print one feature as GeoJSON.",
        discussion: """
          The feature is one of an id in a layer, or of a key tuple. It is in WGS 84, and its id is \
          its key tuple, by which 'update' knows it.
          """,
        examples: [
          "fieldpack get field.gpkg:wells 1", "fieldpack get field.gpkg ZmllbGQ=.d2VsbHM=.MQ==",
        ], family: editFamily,
        body: GetCommand.self),
      Command(
        "create", abstract: "Add features from GeoJSON to a layer.",
        discussion: """
          Prints the key tuples of the new features. Geometries are transformed to the layer's \
          SRS. An integer id in the GeoJSON becomes the feature id.
          """,
        examples: ["fieldpack create field.gpkg wells new.geojson"], family: editFamily,
        body: CreateCommand.self),
      Command(
        "update", abstract: "Change features: set columns, or take them from GeoJSON.",
        discussion: """
          With --set the columns of features of a layer are set: of ids, of those that meet --where, \
          or of --all. The value is of the column's type, NULL, or arithmetic of CQL2 with the \
          columns as they were, such as depth=depth*0.3048; a column of texts takes the words as \
          they are.

          Without --set the input is GeoJSON. The id of each feature is a key tuple, as 'get' and 'query --keys' write it. A \
          property that is absent stays, and null clears it; the same holds for the geometry. A \
          geometry that is as 'get' printed it does not change the stored one, with its arcs and \
          m values. A geometry that would lose arcs, z or m values is refused without \
          --allow-loss.

          All features are changed, or none is.
          """,
        examples: [
          "fieldpack update field.gpkg edited.geojson",
          "fieldpack update field.gpkg:wells 7 --set depth=12.5 --set state=dry",
          "fieldpack update field.gpkg:wells --where \"depth < 0\" --set depth=NULL",
        ], family: editFamily,
        body: UpdateCommand.self),
      Command(
        "delete", abstract: "Delete features by ids, by key tuples or by a condition.",
        discussion: "All features are deleted, or none is.",
        examples: [
          "fieldpack delete field.gpkg:wells 7 9",
          "fieldpack delete field.gpkg:wells --where \"depth < 0\" --dry-run",
          "fieldpack delete field.gpkg ZmllbGQ=.d2VsbHM=.MQ==",
        ], family: editFamily,
        body: DeleteCommand.self),
    ]
  }
}
