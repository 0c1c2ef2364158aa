import FieldpackCore

/// What devices send, and what the server keeps of it.
extension ServiceOperation {
  private static let name = variable(
    "uploadId", "A name that the client makes up, of letters, digits, dashes and lines.",
    ["type": "string", "minLength": 1, "maxLength": 128, "pattern": "^[A-Za-z0-9_-]+$"])

  private static let capture: JSONValue = [
    "type": "object",
    "properties": [
      "capture_info": text, "geo_data": text, "media_file": binary, "thumbnail": binary,
    ],
  ]

  private static let position: JSONValue = [
    "type": "object", "required": ["id", "lat", "lon"],
    "properties": [
      "id": text, "lat": ["type": "number"], "lon": ["type": "number"], "timestamp": text,
    ],
  ]

  static let devices = [
    ServiceOperation(
      id: "sendFixes", method: "post", path: "/fixes", tag: "devices",
      summary: "Takes positions: JSON or NMEA, a line each, or what OwnTracks and Traccar send.",
      body: [
        content(MediaType.json, ["oneOf": [object, ["type": "array", "items": object]]]),
        content("text/plain", text), content("application/x-www-form-urlencoded", position),
      ],
      answers: [
        answer(
          200, "What became of each line.", MediaType.json, ["type": "array", "items": object])
      ]),
    ServiceOperation(
      id: "sendMotion", method: "post", path: "/motion", tag: "devices",
      summary: "Takes motion by the DaCo protocol.", body: [content(MediaType.json, object)],
      answers: [answer(200, "Stored, or the id of a session.", "text/plain", text)]),
    ServiceOperation(
      id: "sendCapture", method: "post", path: "/upload", tag: "devices",
      summary: "Takes a capture as a form.", body: [content("multipart/form-data", capture)],
      answers: [answer(200, "The token of the capture.", MediaType.json)]),
    ServiceOperation(
      id: "getUpload", path: "/uploads/{uploadId}", tag: "devices",
      summary: "How far a capture has come that is sent in pieces, or its receipt.",
      parameters: [name],
      answers: [
        answer(200, "How far it is, or the receipt.", MediaType.json),
        answer(201, "The receipt.", MediaType.json),
      ]),
    ServiceOperation(
      id: "sendPiece", method: "put", path: "/uploads/{uploadId}", tag: "devices",
      summary: "Takes a capture as a form, or a piece of that form.",
      parameters: [
        name, field("Content-Range", "Where the piece lies, such as bytes 0-99/1000."),
        field("Content-Digest", "The SHA-256 of the piece (RFC 9530)."),
        field("Repr-Digest", "The SHA-256 of the whole form (RFC 9530)."),
      ], body: [content("multipart/form-data", capture)],
      answers: [
        answer(200, "The receipt of a capture that was whole before.", MediaType.json),
        answer(201, "The capture is stored; the receipt.", MediaType.json),
        answer(202, "The piece is stored, and others are missing.", MediaType.json),
      ]),
    ServiceOperation(
      id: "removeUpload", method: "delete", path: "/uploads/{uploadId}", tag: "devices",
      summary: "Removes what has come of a capture in pieces.", parameters: [name],
      answers: [answer(204, "Removed.")]),
  ]

  private static let number: JSONValue = ["type": "number"]

  static let fixInAddress = ServiceOperation(
    id: "sendFixInAddress", path: "/fixes", tag: "devices",
    summary: "Takes a position in the address, as OsmAnd and Traccar Client send it.",
    parameters: [
      query("token", "A token that has the right 'ingest' alone, where it is not sent as Bearer."),
      query("id", "The name of the device.", isRequired: true),
      query("lat", "The latitude.", number, isRequired: true),
      query("lon", "The longitude.", number, isRequired: true),
      query("timestamp", "The time, in seconds or milliseconds since 1970, or as text."),
      query("accuracy", "The accuracy in metres.", number),
      query("altitude", "The height in metres.", number),
      query("mps", "The speed in metres per second.", number),
      query("speed", "The speed in knots.", number),
      query("bearing", "The direction in degrees.", number),
    ], answers: [answer(200, "The position is taken.")])

  // MARK: Captures

  private static let token = variable("captureToken", "The token of a capture.")

  static let captures = [
    ServiceOperation(
      id: "getCaptures", path: "/captures", tag: "captures",
      summary: "The captures, the newest first.",
      parameters: [
        query("limit", "The most captures in the answer.", integer(1...1000)),
        query("offset", "How many captures to pass over.", integer(0...1_000_000_000)),
      ],
      answers: [answer(200, "The captures.", MediaType.json), notModified]),
    ServiceOperation(
      id: "getCapture", path: "/captures/{captureToken}", tag: "captures",
      summary: "A capture with its geo-data, and its files with their SHA-256 digests.",
      parameters: [token],
      answers: [answer(200, "The capture.", MediaType.json), notModified]),
    ServiceOperation(
      id: "getCapturePart", path: "/captures/{captureToken}/{capturePart}", tag: "captures",
      summary: "A part of a capture: its JSON files, the medium, or its small picture.",
      parameters: [
        token,
        variable(
          "capturePart", "Which part.",
          ["type": "string", "enum": ["info", "geodata", "media", "thumbnail"]]),
        field("Range", "Only some bytes of a file, such as bytes=0-99."),
        field("If-Range", "The ETag of the file that Range is meant for."),
      ],
      answers: [
        answer(200, "The part.", "*/*", binary), answer(206, "Some of its bytes.", "*/*", binary),
        notModified,
      ]),
  ]
}
