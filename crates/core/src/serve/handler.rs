//! What one client of a server may ask: what it is, its tools, and calls.

use super::Server;
use super::call::{Event, Question, Reply, Running, Suspended};
use super::question::{CONFIRM, can_ask, form, judge, judge_value};
use crate::export::{self, Format};
use crate::tool::Progress;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ElicitRequest, Implementation, InputRequest, InputRequests,
    InputRequiredResult, ListToolsResult, PaginatedRequestParams, ProgressNotificationParam, ProgressToken, ProtocolVersion, ResultType,
    ServerCapabilities, ServerConfig, SubscriptionFilter, Tool,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, Peer, RoleServer, ServerHandler};
use std::sync::Arc;

/// One client's view of a server.
#[derive(Clone)]
pub(super) struct Handler {
    pub(super) server: Arc<Server>,
}

/// How a client is answered while its call runs.
struct Client {
    peer: Peer<RoleServer>,
    progress: Option<ProgressToken>,
    /// Whether questions are answered by calling again, as of revision 2026-07-28.
    calls_again: bool,
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let settings = &self.server.settings;
        let mut info = ServerConfig::new(ServerCapabilities::builder().enable_tools().enable_tool_list_changed().build());
        info.server_info = Implementation::new(settings.name.clone(), settings.version.clone());
        info.instructions = settings.instructions.clone();
        info
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools(self.server.settings.names.as_deref())?))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.tools(Some(&[name.to_owned()])).ok()?.into_iter().next()
    }

    async fn call_tool(&self, request: CallToolRequestParams, context: RequestContext<RoleServer>) -> Result<CallToolResponse, ErrorData> {
        let is_modern = |version: ProtocolVersion| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str();
        let client = Client {
            peer: context.peer.clone(),
            progress: context.meta.get_progress_token(),
            calls_again: context.protocol_version().is_some_and(is_modern),
        };
        let following = async {
            let Some(state) = request.request_state.as_deref() else {
                let running = self.server.begin(request, can_ask(context.client_capabilities().as_ref()))?;
                return self.follow(running, &client).await;
            };
            let Suspended { running, question } = self.server.resume(state, &request)?;
            match request.input_responses.as_ref().and_then(|responses| responses.get(CONFIRM)) {
                Some(answer) => {
                    // The call may have ended meanwhile; its result says so.
                    let _ = question.reply.send(judge_value(answer));
                    self.follow(running, &client).await
                }
                None => self.suspend(running, question),
            }
        };
        tokio::select! {
            biased;
            () = context.ct.cancelled() => Err(ErrorData::internal_error("the call was cancelled", None)),
            response = following => response,
        }
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let (mut changes, closing) = (self.server.gate.generation.subscribe(), self.server.closing.clone());
        tokio::spawn(async move {
            loop {
                tokio::select! {
                    () = closing.cancelled() => return,
                    () = gone(&context.peer) => return,
                    changed = changes.changed() => if changed.is_err() || context.peer.notify_tool_list_changed().await.is_err() { return },
                }
            }
        });
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut changes = self.server.gate.generation.subscribe();
        loop {
            tokio::select! {
                () = context.cancelled() => return Ok(()),
                () = self.server.closing.cancelled() => return Ok(()),
                changed = changes.changed() => {
                    let wants = context.accepted().tools_list_changed == Some(true);
                    if changed.is_err() || (wants && context.sink().notify_tool_list_changed().await.is_err()) {
                        return Ok(());
                    }
                }
            }
        }
    }
}

impl Handler {
    fn tools(&self, names: Option<&[String]>) -> Result<Vec<Tool>, ErrorData> {
        let listed = export::tools(&self.server.gate, Format::Mcp, names);
        serde_json::from_str(&listed).map_err(|error| ErrorData::internal_error(format!("a tool cannot be listed: {error}"), None))
    }

    /// Waits for the end of a call, or for a question that ends this request.
    async fn follow(&self, mut running: Running, client: &Client) -> Result<CallToolResponse, ErrorData> {
        loop {
            tokio::select! {
                biased;
                Some(event) = running.events.recv() => match event {
                    Event::Progress(update) => client.tell(update).await,
                    Event::Question(question) if client.calls_again => return self.suspend(running, question),
                    Event::Question(question) => client.ask(question).await,
                },
                ended = &mut running.result => {
                    while let Ok(Event::Progress(update)) = running.events.try_recv() {
                        client.tell(update).await;
                    }
                    let text = ended.ok().flatten().ok_or_else(|| ErrorData::internal_error("the program of the tools has ended", None))?;
                    return read(&text).map_err(|error| ErrorData::internal_error(format!("no result: {error}"), None));
                }
            }
        }
    }

    fn suspend(&self, running: Running, question: Question) -> Result<CallToolResponse, ErrorData> {
        let form = form(question.text.clone()).map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        let requests = InputRequests::from([(CONFIRM.to_owned(), InputRequest::Elicitation(ElicitRequest::new(form)))]);
        let secret = self.server.suspend(Suspended { running, question })?;
        Ok(InputRequiredResult::new(Some(requests), Some(secret)).into())
    }
}

impl Client {
    async fn tell(&self, update: Progress) {
        let Some(token) = self.progress.clone() else { return };
        let mut note = ProgressNotificationParam::new(token, update.progress);
        note.total = update.total;
        note.message = update.message;
        // A client that is gone hears nothing; its call is cancelled elsewhere.
        let _ = self.peer.notify_progress(note).await;
    }

    async fn ask(&self, Question { text, mut reply }: Question) {
        let Ok(form) = form(text) else { return };
        let answer = tokio::select! {
            () = reply.closed() => return,
            answer = self.peer.create_elicitation(form) => answer,
        };
        let _ = reply.send(answer.map_or(Reply::No, |result| judge(&result)));
    }
}

fn read(text: &str) -> serde_json::Result<CallToolResponse> {
    let mut result: CallToolResult = serde_json::from_str(text)?;
    // Clients of earlier revisions are not told.
    result.result_type = Some(ResultType::COMPLETE);
    Ok(result.into())
}

/// Ends when a client does; nothing tells of that.
async fn gone(peer: &Peer<RoleServer>) {
    const LOOK: std::time::Duration = std::time::Duration::from_secs(30);
    while !peer.is_transport_closed() {
        tokio::time::sleep(LOOK).await;
    }
}
