/// The steps in which a user says what an item captures and by what sensor.
///
/// A value without clock and network: it takes what happens and gives what is to be done.
///
///     var setup = ItemSetup()
///     _ = setup.take(.chose(.finger))
///     _ = setup.take(.choseType(.leftSlap))
///     _ = setup.take(.newDevice)
///     let effects = setup.take(.typed("192.0.2.7:8000"))   // [.check(…, after: 3 s, number: 1)]
///
/// Sensors are not looked for on the network: the check of an address is what there is.
public struct ItemSetup: Hashable, Sendable {
  public enum Step: Hashable, Sendable {
    case modality, submodality, device, address
    case done, cancelled
  }

  /// Where it begins.
  public enum Start: Hashable, Sendable {
    case modality, submodality, device
  }

  public enum Event: Hashable, Sendable {
    /// A modality was chosen.
    case chose(Modality)
    case choseType(CaptureType)
    /// A sensor that was used before, or the one that the item has.
    case choseDevice(SensorDevice)
    /// A sensor is to be named by its address.
    case newDevice
    /// What the item has at this step is to stay.
    case keep
    /// The text of the address after a keystroke.
    case typed(String)
    case named(String)
    case checkAgain
    /// A check has come to its end. One that is not the last is passed over.
    case checked(number: Int, SensorCheck)
    /// One step back.
    case back
    case finish
    case cancel
  }

  public enum Effect: Hashable, Sendable {
    /// The last sensors of the modality are to be offered.
    case offerDevices(Modality)
    /// `GET /info` of the address is to be asked after a while, unless another check is begun before.
    case check(SensorAddress, after: Duration, number: Int)
    /// The check that is waited for is to be ended.
    case cancelCheck(number: Int)
    /// The item is to be stored. Before this, nothing is.
    case store(ItemDraft)
  }

  /// A check begins so long after the last keystroke, and after an address is shown.
  public static let typingDelay = Duration.seconds(3)
  /// A check begins so soon where the user asks for it.
  public static let againDelay = Duration.milliseconds(50)

  public private(set) var step: Step
  public private(set) var modality: Modality?
  public private(set) var captureType: CaptureType?
  public private(set) var device: SensorDevice?
  /// The address as it is typed.
  public private(set) var address = ""
  public private(set) var check = SensorCheck.blank
  private let start: Step
  private let original: ItemDraft?
  private var name = ""
  private var number = 0
  private var isChecking = false

  /// A new item.
  public init() {
    (start, step, original) = (.modality, .modality, nil)
  }

  /// An item that there is.
  public init(changing draft: ItemDraft, from start: Start = .modality) {
    original = draft
    (modality, captureType, device) = (draft.modality, draft.captureType, draft.device)
    self.start =
      switch start {
      case .modality: .modality
      case .submodality: .submodality
      case .device: .device
      }
    step = self.start
  }

  /// What the item would be; `nil` while something is missing.
  public var draft: ItemDraft? {
    guard let modality, let captureType else { return nil }
    return ItemDraft(
      modality: modality, captureType: captureType, device: device, position: original?.position)
  }

  /// Takes what happened. What makes no sense at this step changes nothing.
  public mutating func take(_ event: Event) -> [Effect] {
    switch (step, event) {
    case (.done, _), (.cancelled, _): return []
    case (_, .cancel):
      step = .cancelled
      return endCheck()
    case (_, .back): return back()
    case (.modality, .chose(let chosen)): return choose(chosen)
    case (.modality, .keep): return modality.map { choose($0) } ?? []
    case (.submodality, .choseType(let type)): return choose(type)
    case (.submodality, .keep): return captureType.map { choose($0) } ?? []
    case (.device, .choseDevice(let chosen)):
      device = chosen
      return openAddress(chosen.address)
    case (.device, .newDevice):
      device = nil
      return openAddress(SensorAddress(uri: ""))
    case (.device, .keep): return finish()
    case (.address, _): return takeAtAddress(event)
    default: return []
    }
  }

  // MARK: What is captured

  private mutating func choose(_ chosen: Modality) -> [Effect] {
    if chosen != modality {
      // Another modality has other types, and other sensors.
      captureType = nil
      device = nil
    }
    modality = chosen
    step = .submodality
    return []
  }

  private mutating func choose(_ type: CaptureType) -> [Effect] {
    guard let modality, modality.captureTypes.contains(type) || type == original?.captureType else {
      return []
    }
    captureType = type
    step = .device
    return [.offerDevices(modality)]
  }

  private mutating func back() -> [Effect] {
    let ended = endCheck()
    guard step != start else { return ended }
    switch step {
    case .address: step = .device
    case .device: step = .submodality
    default: step = .modality
    }
    return step == .device ? ended + (modality.map { [.offerDevices($0)] } ?? []) : ended
  }

  // MARK: The address

  private mutating func openAddress(_ address: SensorAddress) -> [Effect] {
    step = .address
    (self.address, name) = (address.uri, address.name)
    return beginCheck(after: Self.typingDelay)
  }

  private mutating func takeAtAddress(_ event: Event) -> [Effect] {
    switch event {
    case .typed(let text):
      address = text
      return beginCheck(after: Self.typingDelay)
    case .named(let text):
      name = text
      return []
    case .checkAgain: return beginCheck(after: Self.againDelay)
    case .checked(let number, let result):
      guard isChecking, number == self.number else { return [] }
      isChecking = false
      check = result
      return []
    case .finish: return finish()
    default: return []
    }
  }

  /// Ends the check before, and begins one where there is an address.
  private mutating func beginCheck(after delay: Duration) -> [Effect] {
    let ended = endCheck()
    guard let typed = SensorAddress(typed: address, name: name) else {
      check = .blank
      return ended
    }
    number += 1
    isChecking = true
    check = .checking
    return ended + [.check(typed, after: delay, number: number)]
  }

  private mutating func endCheck() -> [Effect] {
    guard isChecking else { return [] }
    isChecking = false
    return [.cancelCheck(number: number)]
  }

  /// A sensor that does not answer now may do so later: only an address is asked for.
  private mutating func finish() -> [Effect] {
    if step == .address {
      guard let typed = SensorAddress(typed: address, name: name) else { return [] }
      var changed = device ?? SensorDevice(typed)
      changed.address = typed
      device = changed
    }
    guard let draft else { return [] }
    let ended = endCheck()
    step = .done
    return ended + [.store(draft)]
  }
}
