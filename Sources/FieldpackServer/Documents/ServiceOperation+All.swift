import Fieldpack
import FieldpackCore

extension ServiceOperation {
  /// The operations that a server with these documents has.
  static func all(of documents: ServerDocuments) -> [ServiceOperation] {
    let options = documents.options
    // The layers of captures are made with the first one.
    let hasCaptures =
      !options.isOfDatabase
      && (options.isWritable || documents.layer(CaptureLayers.capture) != nil)
    var found = events + tiles + (options.hasMap ? map : []) + reading
    if options.isWritable { found += writing }
    if options.isWritable, !options.isOfDatabase {
      found += devices
      // Without a token no position comes by GET.
      if options.hasTokens { found.append(fixInAddress) }
    }
    if hasCaptures { found += captures }
    if options.hasTokens { found += signing }
    if options.hasSensors { found += sensors(isWritable: options.isWritable) }
    if options.hasApps { found += bridge + oldServer }
    if options.hasBundles { found += bundles }
    return found
  }

  // MARK: Events

  private static let eventParameters = [
    query(
      "events", "Only these kinds.", list(LiveEvent.Kind.allCases.map(\.rawValue))),
    shared("filter"), shared("filter-lang"),
    query(
      "bbox", "Only what lies in the box: west, south, east and north.",
      ["type": "array", "minItems": 4, "maxItems": 4, "items": ["type": "number"]]),
    query("regions", "A collection: only what happens in its regions."),
    query("since", "Where to begin: the id of an event, or a time."),
    query(
      "last", "1 for the newest state of each device first.",
      ["type": "string", "enum": ["0", "1"]]),
    field("Last-Event-ID", "The last event that the client got."),
  ]

  private static let stream = answer(
    200, "Events, for as long as the client stays.", "text/event-stream", text)

  private static let events = [
    ServiceOperation(
      id: "followEvents", path: "/events", tag: "live",
      summary: "What happens in the file, as server-sent events.",
      parameters: [query("collections", "Only these collections, with commas between them.")]
        + eventParameters, answers: [stream]),
    ServiceOperation(
      id: "followCollection", path: "/collections/{collectionId}/events", tag: "live",
      summary: "What happens in a collection, as server-sent events.",
      parameters: [shared("collectionId")] + eventParameters, answers: [stream]),
  ]

  // MARK: Tiles and the map

  private static let place = [
    variable("z", "The zoom level.", integer(TileDocuments.zooms)),
    variable("x", "The column of the tile, from the west.", ["type": "integer", "minimum": 0]),
    variable("y", "The row of the tile, from the north.", ["type": "integer", "minimum": 0]),
    shared("properties"),
  ]

  private static let tileAnswers = [
    answer(200, "The tile.", MediaType.vectorTile, binary), answer(204, "The tile is empty."),
    notModified,
  ]

  private static let tiles = [
    ServiceOperation(
      id: "getTileJSON", path: "/tiles", tag: "tiles",
      summary: "The TileJSON of the tiles of all collections.",
      answers: [answer(200, "The TileJSON.", MediaType.json)]),
    ServiceOperation(
      id: "getSharedTile", path: "/tiles/{z}/{x}/{y}.mvt", tag: "tiles",
      summary: "A vector tile with a layer for each collection.", parameters: place,
      answers: tileAnswers),
    ServiceOperation(
      id: "getTileXYZ", path: "/collections/{collectionId}/tiles/{z}/{x}/{y}.mvt", tag: "tiles",
      summary: "A vector tile of a collection, with the column before the row.",
      parameters: [shared("collectionId")] + place, answers: tileAnswers),
  ]

  private static let map = [
    ServiceOperation(
      id: "getMap", path: "/map", tag: "capabilities", summary: "The map, for browsers.",
      answers: [
        answer(200, "A page.", MediaType.name(MediaType.html), text), notModified,
      ])
  ]

  // MARK: Synchronisation

  private static let layer = query("layer", "The name of a layer.", isRequired: true)

  private static let reading = [
    ServiceOperation(
      id: "getLoggedLayers", path: "/sync/layers", tag: "synchronisation",
      summary: "The layers whose edits copies can fetch.",
      answers: [answer(200, "The layers.", MediaType.json)]),
    ServiceOperation(
      id: "getEdits", path: "/sync/edits", tag: "synchronisation",
      summary: "The edits of a layer behind a position of its change log.",
      parameters: [
        layer, query("after", "The position.", ["type": "integer", "minimum": 0]),
        query("limit", "The most edits in the answer.", integer(1...10_000)),
      ], answers: [answer(200, "The edits.", MediaType.json)]),
    ServiceOperation(
      id: "getEdit", path: "/sync/edit", tag: "synchronisation",
      summary: "The id of the edit at a position of the change log.",
      parameters: [
        layer,
        query(
          "position", "The position.", ["type": "integer", "minimum": 0], isRequired: true),
      ], answers: [answer(200, "The id.", MediaType.json)]),
  ]

  private static let writing = [
    ServiceOperation(
      id: "sendEdits", method: "post", path: "/sync/edits", tag: "synchronisation",
      summary: "Takes the edits of a copy of a layer.", parameters: [layer],
      body: [content(MediaType.json, object)],
      answers: [answer(200, "What became of the edits.", MediaType.json)])
  ]
}
